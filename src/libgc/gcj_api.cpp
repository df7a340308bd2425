// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: libgc's objects whose first word points to their type, which contains their descriptor.
// Invariant: an object without a type has no pointers.
// Must not know: what types are.
#include "libgc/allocation.hpp"
#include "libgc/client_kinds.hpp"
#include "libgc/debug_header.hpp"
#include "libgc/functions.hpp"
#include "libgc/locked.hpp"
#include "libgc/messages.hpp"
#include "libgc/settings.hpp"

namespace {

using gr::Descriptor;

constexpr std::intptr_t kDescriptorInType = 8;
constexpr std::uintptr_t kPerObject = 3;
constexpr Descriptor kOfType{static_cast<std::uintptr_t>(-kDescriptorInType - Descriptor::kIndirectBias) | kPerObject};
constexpr std::uintptr_t kDebugEnvironment = 1;

constinit std::atomic<bool> is_ready{false};  // release, with the acquire of is_ready's readers

gr::Task *die_for_want_of_one(std::uintptr_t *, gr::Task *, gr::Task *, std::uintptr_t) {
    gr::die("a gcj object needs a mark procedure, but GC_init_gcj_malloc was given none");
}

gr::KindSetup conservative() { return {.descriptor = {}, .adds_size = true}; }

void *typed(void *p, void *type) {
    if (p != nullptr) *static_cast<void **>(p) = type;
    return p;
}

}  // namespace

extern "C" {

GR_EXPORT void GC_init_gcj_malloc(int index, void *procedure) {
    gr::ensure_initialised();
    const gr::Locked locked;
    if (is_ready.load(std::memory_order_relaxed)) return;
    if (index < 0 || static_cast<unsigned>(index) >= gr::kReservedProcedures)
        gr::die("GC_init_gcj_malloc: the index is out of range");
    const auto number = static_cast<unsigned>(index);
    const auto mark = reinterpret_cast<gr::MarkProcedure>(procedure);
    gr::set_procedure(number, mark != nullptr ? mark : die_for_want_of_one);
    const bool ignores = gr::settings.ignores_gcj;
    const gr::KindSetup plain{.descriptor = kOfType};
    const gr::KindSetup debug{.descriptor = gr::procedure_descriptor(number, kDebugEnvironment)};
    gr::store(GC_gcj_kind, static_cast<int>(gr::make_client_kind(ignores ? conservative() : plain)));
    gr::store(GC_gcj_debug_kind, static_cast<int>(gr::make_client_kind(ignores ? conservative() : debug)));
    is_ready.store(true, std::memory_order_release);
}

GR_EXPORT void *GC_gcj_malloc(std::size_t size, void *type) {
    return typed(gr::allocate(static_cast<unsigned>(gr::now(GC_gcj_kind)), size), type);
}
GR_EXPORT void *GC_gcj_malloc_ignore_off_page(std::size_t size, void *type) { return GC_gcj_malloc(size, type); }
GR_EXPORT void *GC_debug_gcj_malloc(std::size_t size, void *type, const char *file, int line) {
    const auto kind = static_cast<unsigned>(gr::now(GC_gcj_debug_kind));
    return typed(gr::allocate_with_header(kind, size, file, line), type);
}

}  // extern "C"
