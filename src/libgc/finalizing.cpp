// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "libgc/finalizing.hpp"

#include "libgc/callbacks.hpp"
#include "libgc/locked.hpp"
#include "libgc/messages.hpp"

namespace gr {
namespace {

thread_local constinit bool is_invoking = false;
constinit std::size_t queued_before = 0;  // finalizers that earlier collections have queued

bool take(QueuedFinalizer *one) {
    const Locked locked;
    return collector.finalization().finalizers.take(one);
}

}  // namespace

void prepare_finalization() { queued_before = collector.finalization().finalizers.queue().size(); }

void ask_toggle_references() {
    if (callbacks.toggle == nullptr) return;
    collector.finalization().toggles.ask_about_each(
        [](void *object) { return static_cast<ToggleStatus>(callbacks.toggle(object)); });
}

void tell_of_queued() {
    const auto queue = collector.finalization().finalizers.queue();
    if (callbacks.await_finalize != nullptr) {
        for (const QueuedFinalizer &one : queue.subspan(queued_before)) callbacks.await_finalize(one.object);
    }
    const FinalizationReport &report = collector.last().finalization;
    if (report.cycles != 0)
        warn("GC Warning: object 0x%lx lies in a cycle, so its ordered finalizer never runs\n",
             reinterpret_cast<GC_word>(report.in_cycle));
}

void after_collection() {
    if (queued_finalizers() == 0) return;
    if (now(GC_finalize_on_demand) == 0) {
        invoke_finalizers();
    } else if (const auto notify = now(GC_finalizer_notifier); notify != nullptr) {
        notify();
    }
}

std::size_t invoke_finalizers() {
    if (is_invoking) return 0;
    is_invoking = true;
    const std::size_t called = call_finalizers(take);
    is_invoking = false;
    return called;
}

std::size_t queued_finalizers() { return collector.finalization().finalizers.queued(); }

}  // namespace gr
