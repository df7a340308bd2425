// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the data that a heap's lock guards, and the data that a global bin's lock guards.
// Invariant: zeroed memory is a heap from which nothing was allocated, and an empty global bin.
// Must not know: other owners; who calls.
#pragma once

#include "heap/bin.hpp"
#include "heap/magazine.hpp"
#include "heap/owner.hpp"
#include "region/recent_units.hpp"

namespace gr {

struct Heap : Owner {
    Bin bins[kClassCount];
    MagazinePolicy magazines;
    RecentUnits recent;
    // Ticks until the heap counts as idle. Ordered by nothing, so the heap may count as idle too early.
    std::atomic<std::uint32_t> ticks_to_idle;
    // Slow paths of the threads on this heap's CPU. Changed under the lock; without the lock a hint.
    std::atomic<std::uint32_t> uses;

    void note_use() {
        uses.store(uses.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        if (ticks_to_idle.load(std::memory_order_relaxed) != kTicksToIdle)
            ticks_to_idle.store(kTicksToIdle, std::memory_order_relaxed);
    }
    void note_tick() {
        // A use that comes meanwhile is not overwritten.
        if (std::uint32_t ticks = ticks_to_idle.load(std::memory_order_relaxed); ticks != 0)
            ticks_to_idle.compare_exchange_strong(ticks, ticks - 1, std::memory_order_relaxed);
    }
    bool is_idle() const { return ticks_to_idle.load(std::memory_order_relaxed) == 0; }
};

// One class of the global heap.
struct GlobalBin : Owner {
    Bin bin;
    std::atomic<std::uint32_t> offered;  // superblocks in it; a hint that saves taking the lock
    // A heap may hold more of this class than its invariant allows, because a lock was taken. A hint; ordered by
    // nothing.
    std::atomic<bool> excess;
};

}  // namespace gr
