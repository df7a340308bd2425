// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: libgc's functions that describe the object at an address, and those that check pointers.
// Invariant: they take no lock: a client asks about an object that it keeps.
// Must not know: how blocks are found.
#include <cstring>

#include "libgc/allocation.hpp"
#include "libgc/displacements.hpp"
#include "libgc/functions.hpp"
#include "libgc/locked.hpp"

namespace {

using gr::collector;

// Whether the address lies in a block, a free one included.
bool is_in_heap(const void *p) {
    const gr::Kind *const kind = collector.kinds().kind_of(p);
    return kind != nullptr && kind->instance.region().contains(p);
}

void *moved(void **place, std::ptrdiff_t bytes) {
    char *const old = static_cast<char *>(*place);
    void *const result = GC_same_obj(old + bytes, old);
    if (!gr::has_more()) GC_is_valid_displacement(result);
    *place = result;
    return old;
}

}  // namespace

extern "C" {

GR_EXPORT void *GC_base(void *p) { return collector.block_at(p).begin; }
GR_EXPORT std::size_t GC_size(const void *p) { return collector.block_at(p).usable(); }
GR_EXPORT int GC_is_heap_ptr(const void *p) { return is_in_heap(p) ? 1 : 0; }
GR_EXPORT int GC_get_kind_and_size(const void *p, std::size_t *size) {
    const gr::BlockAt block = collector.block_at(p);
    if (size != nullptr) *size = block.usable();
    return block.kind == nullptr ? 0 : static_cast<int>(block.kind->number);
}

// If an object has no added byte, a pointer one past its end counts as a pointer to the next object, as in bdwgc.
GR_EXPORT void *GC_same_obj(void *p, void *q) {
    gr::ensure_initialised();
    const gr::BlockAt one = collector.block_at(p);
    const bool are_in_one = one.begin != nullptr ? one.contains(q) : collector.block_at(q).begin == nullptr;
    if (!are_in_one) gr::now(GC_same_obj_print_proc)(p, q);
    return p;
}
GR_EXPORT void *GC_pre_incr(void **place, std::ptrdiff_t bytes) {
    moved(place, bytes);
    return *place;
}
GR_EXPORT void *GC_post_incr(void **place, std::ptrdiff_t bytes) { return moved(place, bytes); }

GR_EXPORT void *GC_is_visible(void *p) {
    gr::ensure_initialised();
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(p) % sizeof(void *) == 0;
    const bool is_outside = is_in_heap(p) && collector.block_at(p).begin == nullptr;
    if (!is_aligned || is_outside) gr::now(GC_is_visible_print_proc)(p);
    return p;
}

GR_EXPORT void *GC_is_valid_displacement(void *p) {
    gr::ensure_initialised();
    const auto *const begin = static_cast<const char *>(collector.block_at(p).begin);
    if (begin == nullptr || gr::has_more()) return p;
    const auto offset = static_cast<std::size_t>(static_cast<const char *>(p) - begin);
    if (!gr::is_registered_displacement(offset)) gr::now(GC_is_valid_displacement_print_proc)(p);
    return p;
}

GR_EXPORT void GC_register_displacement(std::size_t offset) {
    gr::ensure_initialised();
    const gr::Locked locked;
    gr::register_displacement(offset);
}

GR_EXPORT void GC_set_all_interior_pointers(int on) {
    const gr::Locked locked;
    gr::store(GC_all_interior_pointers, on);
    if (gr::is_initialised()) gr::forget_displacements();
}
GR_EXPORT int GC_get_all_interior_pointers() { return gr::now(GC_all_interior_pointers); }

GR_EXPORT void GC_noop1(GC_word word) { asm volatile("" : : "r"(word)); }

// Overwrites what earlier calls have left below this frame.
[[gnu::noinline]] GR_EXPORT void *GC_clear_stack(void *p) {
    char dead[512];
    std::memset(&dead[0], 0, sizeof dead);
    asm volatile("" : : "r"(&dead[0]) : "memory");
    return p;
}

}  // extern "C"
