// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: libgc's interface to marking: the kinds and procedures of clients, and the functions that mark and push.
// Invariant: functions that push are called only during marking, by the thread that marks.
// Must not know: how objects are marked.
#include "libgc/allocation.hpp"
#include "libgc/client_kinds.hpp"
#include "libgc/disclaim.hpp"
#include "libgc/locked.hpp"
#include "libgc/statistics.hpp"

extern "C" {

using GC_ms_entry = gr::Task;
using GC_mark_proc = gr::MarkProcedure;
using GC_describe_type_fn = void (*)(void *object, char *text);

}  // extern "C"

namespace {

using gr::collector;
using gr::Locked;
using gr::Marker;

constexpr std::size_t kFreeLists = 129;

gr::platform::Range range_of(void *low, void *end) {
    if (low >= end) return {};
    return {static_cast<const char *>(low), static_cast<const char *>(end)};
}

}  // namespace

extern "C" {

// The marker has a stack of its own and leaves the client's stack empty.
GR_EXPORT GC_ms_entry *GC_mark_and_push(void *object, GC_ms_entry *top, GC_ms_entry *, void **) {
    Marker::current()->consider(reinterpret_cast<std::uintptr_t>(object));
    return top;
}

// The list is always empty. It serves only as an argument of GC_new_kind.
GR_EXPORT void **GC_new_free_list_inner() {
    return static_cast<void **>(gr::allocate(gr::kUncollectable, kFreeLists * sizeof(void *)));
}
GR_EXPORT void **GC_new_free_list() {
    const Locked locked;
    return GC_new_free_list_inner();
}

GR_EXPORT unsigned GC_new_kind_inner(void **, GC_word descriptor, int adds_size, int clears) {
    return gr::make_client_kind(
        {.descriptor = gr::Descriptor(descriptor), .adds_size = adds_size != 0, .zeroed = clears != 0});
}
GR_EXPORT unsigned GC_new_kind(void **list, GC_word descriptor, int adds_size, int clears) {
    gr::ensure_initialised();
    const Locked locked;
    return GC_new_kind_inner(list, descriptor, adds_size, clears);
}

GR_EXPORT unsigned GC_new_proc_inner(GC_mark_proc procedure) { return gr::make_procedure(procedure); }
GR_EXPORT unsigned GC_new_proc(GC_mark_proc procedure) {
    gr::ensure_initialised();
    const Locked locked;
    return GC_new_proc_inner(procedure);
}

// Has no effect: no report of this library describes types.
GR_EXPORT void GC_register_describe_type_fn(int, GC_describe_type_fn) {}

GR_EXPORT int GC_is_marked(const void *object) { return collector.is_marked(object) ? 1 : 0; }
GR_EXPORT void GC_set_mark_bit(const void *object) {
    collector.set_mark(object, true);
    gr::note_marked();
}
GR_EXPORT void GC_clear_mark_bit(const void *object) { collector.set_mark(object, false); }

GR_EXPORT void GC_push_all(void *low, void *end) { Marker::current()->scan(range_of(low, end)); }
GR_EXPORT void GC_push_all_eager(void *low, void *end) { Marker::current()->scan_stack(range_of(low, end)); }
// Pushes everything: the collector does not know here which pages were written.
GR_EXPORT void GC_push_conditional(void *low, void *end, int) { GC_push_all(low, end); }
// Does nothing: these structures are pushed with the roots.
GR_EXPORT void GC_push_finalizer_structures() {}

GR_EXPORT void GC_enumerate_reachable_objects_inner(void (*visit)(void *object, std::size_t bytes, void *context),
                                                    void *context) {
    for (std::uint32_t i = 0; i < collector.kind_count(); ++i) {
        collector.for_each_block(*collector.kind(i), [&](const gr::BlockAt &block, bool marked) {
            if (marked) visit(block.begin, block.usable(), context);
        });
    }
}

GR_EXPORT void GC_incr_bytes_allocd(std::size_t bytes) { gr::count_allocated(bytes); }
GR_EXPORT void GC_incr_bytes_freed(std::size_t bytes) { gr::count_freed(bytes); }

}  // extern "C"
