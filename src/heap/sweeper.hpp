// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: giving back whole pages that are free under superblocks which have other blocks in use.
// Invariant: while a page is given back its blocks are marked used, so that nobody is handed one, and no owner's lock
//    is held. What the kernel refuses stays, its blocks too.
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

    // In both no lock is held, and the caller did not interrupt the heaps.

    // Everything; the bytes given back.
    std::size_t sweep();
    // Of superblocks that a collection found rested: what nobody wanted between two nobody will want before the next.
    void sweep_rested();
    // The step that stands for what became free, if one is due.
    void sweep_if_due();

    std::size_t swept_bytes() const { return swept_bytes_.load(std::memory_order_relaxed); }
    std::size_t calls() const { return calls_.load(std::memory_order_relaxed); }
    // Held by who sweeps, and taken by fork first: the blocks of a page that is being given back are marked used.
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
