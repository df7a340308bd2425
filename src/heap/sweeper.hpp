// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: purge: returns whole free pages to the OS while their superblocks have other blocks in use.
// Invariant: while a page is returned, its blocks are marked used, so that no thread is handed one, and no owner's lock
//    is held. A page that the kernel refuses stays resident, and its blocks become free again.
// Must not know: magazines, messages.
#pragma once

#include "heap/ownership.hpp"
#include "heap/sweep_cycle.hpp"

namespace gr {

class Sweeper {
  public:
    constexpr Sweeper(Ownership &ownership, GlobalFree &global_free, Region &region, Superblocks &superblocks,
                      PageHeap &pages)
        : ownership_(ownership), global_free_(global_free), region_(region), superblocks_(superblocks), pages_(pages) {}

    // In these functions no lock is held, and the caller is no signal handler that interrupted the heaps.

    // Purges everything. Returns the bytes returned to the OS.
    std::size_t sweep();
    // Purges the superblocks that a collection found rested: if the program took none of their blocks between two
    // collections, it will hardly take any before the next.
    void sweep_rested();
    // Begins a purge, or does the next step of the one under way, if that is due.
    void sweep_if_due();

    std::size_t swept_bytes() const { return swept_bytes_.load(std::memory_order_relaxed); }
    std::size_t calls() const { return calls_.load(std::memory_order_relaxed); }
    // Held during a purge. Fork takes it before the heaps' locks, because the blocks of a page that is being returned
    // are marked used.
    platform::Mutex &mutex() { return mutex_; }

  private:
    enum class SplitHuge : std::uint8_t { if_worth_it, yes };

    void begin();
    std::size_t sweep_chunks(std::uint32_t count, SplitHuge split);
    bool is_worth_sweeping(ChunkIndex chunk);
    std::size_t sweep_chunk(ChunkIndex chunk);
    std::size_t sweep_unit(UnitIndex u);
    void give_back_swept(Superblock *s, const PageSet &pages, const PageSet &gone);

    Ownership &ownership_;
    GlobalFree &global_free_;
    Region &region_;
    Superblocks &superblocks_;
    PageHeap &pages_;
    platform::Mutex mutex_;
    SweepCycle cycle_;
    // Statistics; ordered by nothing.
    std::atomic<std::size_t> swept_bytes_{0};
    std::atomic<std::size_t> calls_{0};
};

}  // namespace gr
