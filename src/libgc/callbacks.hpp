// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the procedures of the client that a collection calls.
// Invariant: they are read and written under the lock. A procedure that waits holds up all threads.
// Must not know: what the procedures do.
#pragma once

#include "libgc/variables.hpp"

extern "C" {

enum GC_EventType : int {
    GC_EVENT_START,
    GC_EVENT_MARK_START,
    GC_EVENT_MARK_END,
    GC_EVENT_RECLAIM_START,
    GC_EVENT_RECLAIM_END,
    GC_EVENT_END,
    GC_EVENT_PRE_STOP_WORLD,
    GC_EVENT_POST_STOP_WORLD,
    GC_EVENT_PRE_START_WORLD,
    GC_EVENT_POST_START_WORLD,
    GC_EVENT_THREAD_SUSPENDED,
    GC_EVENT_THREAD_UNSUSPENDED,
};
enum GC_ToggleRefStatus : int { GC_TOGGLE_REF_DROP, GC_TOGGLE_REF_STRONG, GC_TOGGLE_REF_WEAK };

using GC_stop_func = int (*)();
using GC_start_callback_proc = void (*)();
using GC_on_collection_event_proc = void (*)(GC_EventType event);
using GC_on_thread_event_proc = void (*)(GC_EventType event, void *thread);
using GC_toggleref_func = GC_ToggleRefStatus (*)(void *object);
using GC_await_finalize_proc = void (*)(void *object);
using GC_has_static_roots_func = int (*)(const char *file, void *begin, std::size_t bytes);

}  // extern "C"

namespace gr {

struct Callbacks {
    GC_stop_func stop = nullptr;  // returns nonzero if the collection is to end
    GC_start_callback_proc start = nullptr;
    GC_on_collection_event_proc event = nullptr;
    GC_on_thread_event_proc thread_event = nullptr;
    GC_toggleref_func toggle = nullptr;
    GC_await_finalize_proc await_finalize = nullptr;
    GC_has_static_roots_func has_static_roots = nullptr;
};
extern Callbacks callbacks;

// Tells the client of the size of the heap, if the size has changed.
void tell_of_size();

// Sets the collector's hooks, which call the procedures. Called once.
void install_hooks();

}  // namespace gr
