// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what the lock of a heap guards, and the lock of one class of the global heap.
// Invariant: zeroed memory is a heap that nothing was allocated from, and a bin that is empty.
// Must not know: other owners; who calls.
#pragma once

#include "heap/bin.hpp"
#include "heap/magazine.hpp"
#include "heap/owner.hpp"

namespace gr {

struct Heap : Owner {
    Bin bins[kClassCount];
    MagazinePolicy magazines;
    // Until it counts as idle; ordered by nothing, so a tick may go by too early.
    std::atomic<std::uint32_t> ticks_to_idle;
    // Slow paths of those who run on its CPU; changed under the lock, and a hint without.
    std::atomic<std::uint32_t> uses;

    void note_use() {
        uses.store(uses.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        if (ticks_to_idle.load(std::memory_order_relaxed) != kTicksToIdle)
            ticks_to_idle.store(kTicksToIdle, std::memory_order_relaxed);
    }
    void note_tick() {
        if (const std::uint32_t ticks = ticks_to_idle.load(std::memory_order_relaxed); ticks != 0)
            ticks_to_idle.store(ticks - 1, std::memory_order_relaxed);
    }
    bool is_idle() const { return ticks_to_idle.load(std::memory_order_relaxed) == 0; }
};

// One class of the global heap.
struct GlobalBin : Owner {
    Bin bin;
    std::atomic<std::uint32_t> offered;  // superblocks in it; a hint that saves taking the lock
    // A heap may hold more of the class than its invariant lets it, for a lock was held. A hint; ordered by nothing.
    std::atomic<bool> excess;
};

}  // namespace gr
