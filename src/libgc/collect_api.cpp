// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: libgc's explicit collections, and the functions that disable, delay or hasten collections.
// Invariant: nothing is collected while GC_dont_gc is not 0; GC_disable and GC_enable count in this variable itself.
// Must not know: how objects are collected.
#include "libgc/allocation.hpp"
#include "libgc/callbacks.hpp"
#include "libgc/finalizing.hpp"
#include "libgc/functions.hpp"
#include "libgc/initialise.hpp"
#include "libgc/locked.hpp"
#include "libgc/settings.hpp"

namespace {

using gr::collector;
using gr::settings;

// The stop function of the collection that runs; nullptr: it has none. Guarded by the lock.
constinit GC_stop_func stop_of_caller = nullptr;

bool must_stop() {
    if (gr::now(GC_dont_gc) != 0) return true;
    return stop_of_caller != nullptr && stop_of_caller() != 0;
}

void give_back() {
    for (std::uint32_t i = 0; i < collector.kind_count(); ++i) collector.kind(i)->instance.trim(0);
}

// Calls finalizers of earlier collections first, because they may drop references.
bool collect(GC_stop_func stop) {
    gr::ensure_initialised();
    if (gr::now(GC_finalize_on_demand) == 0) gr::invoke_finalizers();
    collector.lock();
    GC_stop_func const outer = stop_of_caller;
    stop_of_caller = stop;
    const bool done = collector.collect(must_stop).done;
    stop_of_caller = outer;
    collector.unlock();
    if (done && !collector.is_locked_by_me()) gr::after_collection();
    return done;
}

}  // namespace

extern "C" {

GR_EXPORT void GC_gcollect() {
    collect(gr::callbacks.stop);
    if (settings.gives_back) give_back();
}
GR_EXPORT void GC_gcollect_and_unmap() {
    collect(nullptr);
    give_back();
}
GR_EXPORT int GC_try_to_collect(GC_stop_func stop) {
    const bool done = collect(stop);
    if (settings.gives_back) give_back();
    return done ? 1 : 0;
}

GR_EXPORT void GC_disable() { std::atomic_ref(GC_dont_gc).fetch_add(1, std::memory_order_relaxed); }
GR_EXPORT void GC_enable() { std::atomic_ref(GC_dont_gc).fetch_sub(1, std::memory_order_relaxed); }
GR_EXPORT int GC_is_disabled() { return gr::now(GC_dont_gc) != 0 ? 1 : 0; }

GR_EXPORT void GC_set_disable_automatic_collection(int disabled) {
    collector.pace().automatic.store(disabled == 0, std::memory_order_relaxed);
}
GR_EXPORT int GC_get_disable_automatic_collection() {
    return collector.pace().automatic.load(std::memory_order_relaxed) ? 0 : 1;
}

GR_EXPORT void GC_set_dont_precollect(int on) { gr::store(GC_dont_precollect, on); }
GR_EXPORT int GC_get_dont_precollect() { return gr::now(GC_dont_precollect); }

// The client promises that it will need this many bytes.
GR_EXPORT int GC_expand_hp(std::size_t bytes) {
    gr::ensure_initialised();
    const std::size_t most = collector.pace().most.load(std::memory_order_relaxed);
    const std::size_t used = collector.present_bytes();
    if (bytes > PTRDIFF_MAX || (used < most ? most - used : 0) < bytes) return 0;
    gr::expand_heap(bytes);
    return 1;
}
GR_EXPORT void GC_set_max_heap_size(GC_word bytes) { gr::limit_heap(bytes); }

GR_EXPORT void GC_set_force_unmap_on_gcollect(int on) { settings.gives_back = on != 0; }
GR_EXPORT int GC_get_force_unmap_on_gcollect() { return settings.gives_back ? 1 : 0; }

GR_EXPORT void GC_set_find_leak(int on) { gr::store(GC_find_leak, on); }
GR_EXPORT int GC_get_find_leak() { return gr::now(GC_find_leak); }

GR_EXPORT int GC_is_init_called() { return gr::is_initialised() ? 1 : 0; }
GR_EXPORT void GC_deinit() { gr::forget_initialised(); }
GR_EXPORT void GC_init() { gr::initialise(); }

}  // extern "C"
