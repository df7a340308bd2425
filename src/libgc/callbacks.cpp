// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the steps of a collection as clients know them, in their order, and what libgc itself does at each step.
// Invariant: clients are told of the events of the sweep after the threads run again, although the sweep is over then.
// Must not know: what clients do.
#include "libgc/callbacks.hpp"

#include "libgc/client_kinds.hpp"
#include "libgc/debug_report.hpp"
#include "libgc/defaults.hpp"
#include "libgc/disclaim.hpp"
#include "libgc/displacements.hpp"
#include "libgc/finalizing.hpp"
#include "libgc/find_leak.hpp"
#include "libgc/locked.hpp"
#include "libgc/messages.hpp"
#include "libgc/performance.hpp"
#include "libgc/settings.hpp"
#include "libgc/statistics.hpp"

namespace gr {
namespace {

int never() { return 0; }

void tell(GC_EventType event) {
    if (callbacks.event != nullptr) callbacks.event(event);
}

// A pthread_t is the thread pointer.
void tell_of_threads(GC_EventType event) {
    if (callbacks.thread_event == nullptr) return;
    std::size_t at = 0;
    while (const platform::StoppedThread *const thread = platform::world.next_stopped(&at))
        callbacks.thread_event(event, reinterpret_cast<void *>(thread->thread_pointer));
}

constinit bool is_swept = false;  // whether this collection has swept

void begin() {
    collector.pace().set_divisor(now(GC_free_space_divisor));
    collector.pace().set_least_growth(settings.least_allocated);
    collector.set_accepts(now(GC_all_interior_pointers) != 0 ? nullptr : is_registered_displacement);
    is_swept = false;
    note_begin();
    tell(GC_EVENT_START);
    if (callbacks.start != nullptr) callbacks.start();
}

// Called at each stop of a collection. The program runs between two stops.
void stopping() {
    prepare_finalization();
    ask_toggle_references();
    tell(GC_EVENT_PRE_STOP_WORLD);
}

void resumed() {
    tell(GC_EVENT_POST_START_WORLD);
    if (!is_swept) return;
    tell_of_queued();
    tell(GC_EVENT_RECLAIM_START);
    disclaim_dead();
    tell(GC_EVENT_RECLAIM_END);
}

void end() {
    if (is_swept) note_end();
    store(GC_parallel, static_cast<int>(collector.markers().helpers()));
    tell(GC_EVENT_END);
    if (is_swept) log_collection();
    tell_of_size();
}

void take(Step step) {
    switch (step) {
        case Step::begin:
            return begin();
        case Step::stopping:
            return stopping();
        case Step::stopped:
            tell_of_threads(GC_EVENT_THREAD_SUSPENDED);
            return tell(GC_EVENT_POST_STOP_WORLD);
        case Step::marking:
            return tell(GC_EVENT_MARK_START);
        case Step::marked:
            return tell(GC_EVENT_MARK_END);
        case Step::sweeping:
            return;
        case Step::swept:
            is_swept = true;
            store(GC_gc_no, GC_gc_no + 1);
            return;
        case Step::resuming:
            tell(GC_EVENT_PRE_START_WORLD);
            return tell_of_threads(GC_EVENT_THREAD_UNSUSPENDED);
        case Step::resumed:
            return resumed();
        case Step::end:
            return end();
    }
}

void push_roots() {
    if (const auto push = now(GC_push_other_roots); push != nullptr) push();
}

// GC_dont_gc is a counter that clients also change directly.
bool must_stop() { return now(GC_dont_gc) != 0 || callbacks.stop() != 0; }

bool calls_program() {
    return has_client_procedures() || has_disclaims() || now(GC_push_other_roots) != push_stacks ||
           callbacks.stop != never || callbacks.start != nullptr || callbacks.event != nullptr ||
           callbacks.thread_event != nullptr || now(GC_on_heap_resize) != nullptr || callbacks.toggle != nullptr ||
           callbacks.await_finalize != nullptr;
}

JavaFinalization finalizes_as_java() {
    return now(GC_java_finalization) != 0 ? JavaFinalization::on : JavaFinalization::off;
}

void reached() {
    keep_disclaimed();
    report_leaks();
    report_overwritten();
}

void refused(const char *why) {
    warn("GC Warning: a collection could not be done and freed nothing: %s\n", reinterpret_cast<GC_word>(why));
}

void unseen(std::uint32_t thread) {
    warn(
        "GC Warning: thread %lu blocks the signal that stops threads, and ptrace is refused: objects to which only "
        "this "
        "thread refers are freed; unblock the signal in it (GC_get_suspend_signal) or permit ptrace\n",
        thread);
}

}  // namespace

constinit Callbacks callbacks{.stop = never};

void tell_of_size() {
    static constinit std::size_t told = 0;
    const std::size_t bytes = heap_bytes();
    if (const auto resized = now(GC_on_heap_resize); resized != nullptr && bytes != told) resized(bytes);
    told = bytes;
}

void install_hooks() {
    Hooks &hooks = collector.hooks();
    hooks.step = take;
    hooks.must_stop = must_stop;
    hooks.push_roots = push_roots;
    hooks.calls_program = calls_program;
    hooks.finalizes_as_java = finalizes_as_java;
    hooks.reached = reached;
    hooks.refused = refused;
    hooks.unseen = unseen;
    hooks.after = after_collection;
}

}  // namespace gr
