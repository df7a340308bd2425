// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the functions by which clients register the procedures that a collection calls.
// Invariant: a change counts from the next collection on.
// Must not know: when the procedures are called.
#include "libgc/callbacks.hpp"
#include "libgc/locked.hpp"

using gr::callbacks;
using gr::get_locked;
using gr::set_locked;

extern "C" {

GR_EXPORT void GC_set_stop_func(GC_stop_func stop) { set_locked(callbacks.stop, stop); }
GR_EXPORT GC_stop_func GC_get_stop_func() { return get_locked(callbacks.stop); }

GR_EXPORT void GC_set_start_callback(GC_start_callback_proc start) { set_locked(callbacks.start, start); }
GR_EXPORT GC_start_callback_proc GC_get_start_callback() { return get_locked(callbacks.start); }

GR_EXPORT void GC_set_on_collection_event(GC_on_collection_event_proc tell) { set_locked(callbacks.event, tell); }
GR_EXPORT GC_on_collection_event_proc GC_get_on_collection_event() { return get_locked(callbacks.event); }

GR_EXPORT void GC_set_on_thread_event(GC_on_thread_event_proc tell) { set_locked(callbacks.thread_event, tell); }
GR_EXPORT GC_on_thread_event_proc GC_get_on_thread_event() { return get_locked(callbacks.thread_event); }

GR_EXPORT void GC_set_toggleref_func(GC_toggleref_func ask) { set_locked(callbacks.toggle, ask); }
GR_EXPORT GC_toggleref_func GC_get_toggleref_func() { return get_locked(callbacks.toggle); }

GR_EXPORT void GC_set_await_finalize_proc(GC_await_finalize_proc tell) { set_locked(callbacks.await_finalize, tell); }
GR_EXPORT GC_await_finalize_proc GC_get_await_finalize_proc() { return get_locked(callbacks.await_finalize); }

GR_EXPORT void GC_set_on_heap_resize(GC_on_heap_resize_proc tell) { set_locked(GC_on_heap_resize, tell); }
GR_EXPORT GC_on_heap_resize_proc GC_get_on_heap_resize() { return get_locked(GC_on_heap_resize); }

GR_EXPORT void GC_set_oom_fn(GC_oom_func answer) { set_locked(GC_oom_fn, answer); }
GR_EXPORT GC_oom_func GC_get_oom_fn() { return get_locked(GC_oom_fn); }

GR_EXPORT void GC_set_push_other_roots(GC_push_other_roots_proc push) { gr::store(GC_push_other_roots, push); }
GR_EXPORT GC_push_other_roots_proc GC_get_push_other_roots() { return gr::now(GC_push_other_roots); }

}  // extern "C"
