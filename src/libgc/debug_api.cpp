// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the debug functions of libgc: they do what the plain functions do, and give each object a header that says where
//    it was allocated.
// Invariant: a collectable object that the client frees is left to the collector, so that a later write to it changes no
//    other object.
// Must not know: what the header consists of.
#include "libgc/allocation.hpp"
#include "libgc/debug_report.hpp"
#include "libgc/displacements.hpp"
#include "libgc/functions.hpp"
#include "libgc/locked.hpp"
#include "libgc/messages.hpp"
#include "libgc/text_copies.hpp"

namespace gr {

void *allocate_with_header(unsigned kind, std::size_t size, const char *file, int line) {
    Kind &of = kind_of_number(kind);
    if (!is_registered_displacement(DebugHeader::kBytes)) register_displacement(DebugHeader::kBytes);
    if (size > PTRDIFF_MAX) return now(GC_oom_fn)(size);
    void *p = collector.allocate(of, DebugHeader::whole(size));
    if (p == nullptr) [[unlikely]] {
        p = out_of_memory(of, size, DebugHeader::whole(size), 0);
        // What the client's out-of-memory function returned has no room for a header.
        if (p == nullptr || collector.block_at(p).kind != &of) return p;
    }
    look_for_overwritten();
    return DebugHeader::make(p, size, file, line);
}

}  // namespace gr

namespace {

using gr::allocate_with_header;
using gr::BlockAt;
using gr::complain;
using gr::DebugHeader;

constexpr const char *kNoFile = "unknown";
constexpr int kFreedByte = 0xef;

BlockAt block_of(const char *function, void *p) {
    const BlockAt block = gr::collector.block_at(p);
    if (block.begin == nullptr) {
        complain(function, p, "is not in the heap", nullptr);
        gr::die("a debug function was given an address that is not in the heap");
    }
    return block;
}

// nullptr: the object was not allocated by a debug function, or its header is damaged.
DebugHeader *header_of(const BlockAt &block, void *p) {
    return DebugHeader::user_data(block.begin) == p ? DebugHeader::of(block) : nullptr;
}

void free_checked(void *p) {
    if (p == nullptr) return;
    const BlockAt block = block_of("GC_debug_free", p);
    DebugHeader *const header = header_of(block, p);
    if (header == nullptr) {
        complain("GC_debug_free", p, "has no debug header, or a broken one", nullptr);
        return gr::free(block.begin);
    }
    if (header->is_freed(header)) return complain("GC_debug_free", p, "was already freed", header);
    if (!header->end_is_whole()) complain("GC_debug_free", p, "was overwritten behind its end", header);
    header->mark_freed();
    const bool is_kept = block.kind->setup.lifetime == gr::Lifetime::collected && gr::now(GC_find_leak) == 0;
    if (!is_kept) return gr::free(block.begin);
    std::memset(p, kFreedByte, header->size);
}

void *resize_checked(void *p, std::size_t size, const char *file, int line) {
    if (p == nullptr) return allocate_with_header(gr::kNormal, size, file, line);
    if (size == 0) {
        free_checked(p);
        return nullptr;
    }
    const BlockAt block = block_of("GC_debug_realloc", p);
    const DebugHeader *const header = header_of(block, p);
    if (header == nullptr) {
        complain("GC_debug_realloc", p, "has no debug header", nullptr);
        return GC_realloc(p, size);
    }
    if (block.kind->number >= gr::kStandardKinds)
        gr::die("GC_debug_realloc: cannot resize an object of a kind that the client made");
    const std::size_t kept = header->size < size ? header->size : size;
    void *const moved = allocate_with_header(block.kind->number, size, file, line);
    if (moved == nullptr) return nullptr;
    std::memcpy(moved, p, kept);
    free_checked(p);
    return moved;
}

}  // namespace

extern "C" {

GR_EXPORT void *GC_debug_malloc(std::size_t size, const char *file, int line) {
    return allocate_with_header(gr::kNormal, size, file, line);
}
GR_EXPORT void *GC_debug_malloc_atomic(std::size_t size, const char *file, int line) {
    return allocate_with_header(gr::kAtomic, size, file, line);
}
GR_EXPORT void *GC_debug_malloc_uncollectable(std::size_t size, const char *file, int line) {
    return allocate_with_header(gr::kUncollectable, size, file, line);
}
GR_EXPORT void *GC_debug_malloc_atomic_uncollectable(std::size_t size, const char *file, int line) {
    return allocate_with_header(gr::kAtomicUncollectable, size, file, line);
}
GR_EXPORT void *GC_debug_malloc_ignore_off_page(std::size_t size, const char *file, int line) {
    return allocate_with_header(gr::kNormal, size, file, line);
}
GR_EXPORT void *GC_debug_malloc_atomic_ignore_off_page(std::size_t size, const char *file, int line) {
    return allocate_with_header(gr::kAtomic, size, file, line);
}
GR_EXPORT void *GC_debug_malloc_stubborn(std::size_t size, const char *file, int line) {
    return allocate_with_header(gr::kNormal, size, file, line);
}
GR_EXPORT void *GC_debug_generic_or_special_malloc(std::size_t size, int kind, const char *file, int line) {
    return allocate_with_header(static_cast<unsigned>(kind), size, file, line);
}
GR_EXPORT void *GC_debug_malloc_replacement(std::size_t size) {
    return allocate_with_header(gr::kNormal, size, kNoFile, 0);
}
GR_EXPORT void *GC_debug_realloc(void *p, std::size_t size, const char *file, int line) {
    return resize_checked(p, size, file, line);
}
GR_EXPORT void *GC_debug_realloc_replacement(void *p, std::size_t size) { return resize_checked(p, size, kNoFile, 0); }
GR_EXPORT void GC_debug_free(void *p) { free_checked(p); }

GR_EXPORT char *GC_debug_strdup(const char *text, const char *file, int line) {
    return text == nullptr ? nullptr : GC_debug_strndup(text, SIZE_MAX, file, line);
}
GR_EXPORT char *GC_debug_strndup(const char *text, std::size_t most, const char *file, int line) {
    return gr::copy_of_text(text, most,
                            [&](std::size_t bytes) { return allocate_with_header(gr::kAtomic, bytes, file, line); });
}

GR_EXPORT void GC_debug_register_displacement(std::size_t offset) {
    gr::ensure_initialised();
    const gr::Locked locked;
    gr::register_displacement(offset);
    gr::register_displacement(DebugHeader::kBytes + offset);
}

// Does nothing: the collector does not need to be told of writes.
GR_EXPORT void GC_debug_change_stubborn(const void *) {}
GR_EXPORT void GC_debug_end_stubborn_change(const void *p) {
    block_of("GC_debug_end_stubborn_change", const_cast<void *>(p));
}
GR_EXPORT void GC_debug_ptr_store_and_dirty(void *p, const void *q) {
    void **const place = static_cast<void **>(GC_is_visible(p));
    *place = GC_is_valid_displacement(const_cast<void *>(q));
    GC_debug_end_stubborn_change(p);
}

GR_EXPORT std::size_t GC_get_debug_header_size() { return DebugHeader::kBytes; }

}  // extern "C"
