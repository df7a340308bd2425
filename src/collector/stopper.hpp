// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the stop of a collection: all threads stand, the locks of all instances are held, and the hooks are told each
//    step.
// Invariant: the locks are held from before the stop until after it, so no block is in flight except in registers and
//    on stacks. The threads that mark and the thread that collects incrementally are never stopped.
// Must not know: what is marked and swept.
#pragma once

#include "collector/collection_report.hpp"
#include "collector/hooks.hpp"
#include "collector/markers.hpp"
#include "collector/roots.hpp"
#include "collector/unstoppable_threads.hpp"
#include "instance/instances.hpp"
#include "platform/clock.hpp"

namespace gr {

class Stopper {
  public:
    constexpr Stopper(Kinds &kinds, Roots &roots, const Hooks &hooks, const Markers &markers)
        : kinds_(kinds), roots_(roots), hooks_(hooks), markers_(markers) {}
    Stopper(const Stopper &) = delete;
    Stopper &operator=(const Stopper &) = delete;

    // Under the collector's lock. The thread that collects incrementally; 0: there is none.
    void set_collecting_task(std::uint32_t task) { collecting_task_ = task; }

    // Calls walk() while the threads stand. If they could not be stopped, walk() is not called.
    template <class Walk>
    void while_stopped(CollectionReport *report, Walk walk) {
        hooks_.tell(Step::stopping);
        report->began = platform::nanoseconds();
        if (roots_.stop(exempt(), [] { instances.lock_all(); })) {
            report->stopping_nanoseconds = platform::nanoseconds() - report->began;
            report->threads = platform::world.stopped();
            hooks_.tell(Step::stopped);
            walk();
            hooks_.tell(Step::resuming);
            roots_.resume();
        }
        instances.unlock_all();
        report->stopped_nanoseconds = platform::nanoseconds() - report->began;
        hooks_.tell(Step::resumed);
    }

    // While the threads stand: mark(), and if that says that all is marked, sweep(). report->done says whether both
    // were done. Threads that could not be stopped are kept out of the magazines meanwhile.
    template <class Mark, class Sweep>
    void mark_and_sweep(CollectionReport *report, Mark mark, Sweep sweep) {
        const UnstoppableThreadsKeptOut kept_out(kinds_);
        if (!kept_out.done() || !kinds_.cover_marks()) return;
        const std::uint64_t began = platform::nanoseconds();
        hooks_.tell(Step::marking);
        report->done = mark();
        hooks_.tell(Step::marked);
        const std::uint64_t marked = platform::nanoseconds();
        report->marking_nanoseconds = marked - began;
        if (!report->done) return;
        hooks_.tell(Step::sweeping);
        sweep();
        hooks_.tell(Step::swept);
        report->sweeping_nanoseconds = platform::nanoseconds() - marked;
    }

  private:
    std::span<const std::uint32_t> exempt() {
        std::size_t count = 0;
        for (const std::uint32_t task : markers_.tasks()) exempt_[count++] = task;
        if (collecting_task_ != 0) exempt_[count++] = collecting_task_;
        return {exempt_.data(), count};
    }

    Kinds &kinds_;
    Roots &roots_;
    const Hooks &hooks_;
    const Markers &markers_;
    std::uint32_t collecting_task_ = 0;
    std::array<std::uint32_t, kMostMarkers + 1> exempt_{};
};

}  // namespace gr
