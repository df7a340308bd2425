// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a collection beside the program keeps from its first stop to its end, and who waits for whom.
// Invariant: at_work is set and cleared by the thread that collects beside; set under the collector's lock. While it is
//    set, marks are that thread's, and whoever has the lock waits before he touches them or forks.
// Must not know: how it is collected.
#pragma once

#include "collector/collection_report.hpp"
#include "collector/free_snapshot.hpp"
#include "collector/meeting.hpp"
#include "collector/pace.hpp"
#include "platform/futex.hpp"
#include "platform/world/write_watch.hpp"

namespace gr {

struct Cycle {
    std::atomic<bool> is_wanted{false};     // due collections are such; ordered by nothing, as is_under_way
    std::atomic<bool> is_under_way{false};  // changed under the collector's lock
    std::atomic<bool> abandoned{false};     // the same: what it has marked counts no more
    std::atomic<bool> after_is_due{false};  // the hook for a thread of the program's
    std::atomic<bool> has_failed{false};    // the next one stops the program; ordered by nothing
    platform::FutexWord calls{0};           // goes up where one is to begin; ordered by nothing
    platform::FutexWord at_work{0};         // release where it is cleared, with the acquire of who waits
    platform::FutexWord ends{0};            // goes up where one ends; ordered by nothing
    platform::FutexWord task{0};            // of the thread that collects beside; release, with the acquire of stops
    std::atomic<bool> has_thread{false};    // changed under the lock; ordered by nothing
    Meeting meeting;                        // of that thread with one of the program's, for a stop

    // Under the lock.
    bool is_swept = false;  // but not told of
    platform::WriteWatch watch;
    FreeSnapshot snapshot;
    Found found;
    CollectionReport report;
    std::size_t held_before = 0;  // bytes, where it began
};

}  // namespace gr
