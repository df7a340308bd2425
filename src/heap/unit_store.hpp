// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: makes superblocks and runs of units, and releases them: the border between heaps and the page heap. Writes the
//    unit map.
// Invariant: units without an owner have entry 0, and a released superblock has the owner kNobody. A release by a
//    signal handler that interrupted the heaps is deferred, never lost.
// Must not know: bins, magazines, when a superblock is wanted.
#pragma once

#include "heap/unit_entry.hpp"
#include "region/page_heap.hpp"
#include "superblock/superblocks.hpp"

namespace gr {

class UnitStore {
  public:
    constexpr UnitStore(Region &region, Superblocks &superblocks, PageHeap &pages)
        : region_(region), superblocks_(superblocks), pages_(pages) {}

    // All blocks are free; no owner and no entries are stored yet. nullptr: no memory.
    Superblock *acquire_superblock(ClassIndex c, Prefer prefer, Near near = {});
    // Releases a superblock that has no owner, or a run.
    void release(Superblock *s);

    // Under the owner's lock: `to` is the owner from now on (rule 1).
    void hand_over(Superblock *s, OwnerIndex to);
    // Under the owner's lock: s has no owner from now on, and is released.
    void take_back(Superblock *s);
    // What the unit map says of a unit; it may be stale.
    UnitEntry entry(UnitIndex u) const { return load_entry(region_, u); }

    // A single block of whole units at a multiple of `alignment` units; nullptr: no memory. `kept`: the pages behind so
    // many bytes become absent, a unit of them at most; SIZE_MAX: none.
    void *acquire_run(UnitCount count, UnitCount alignment, CpuGroup group, std::size_t kept, bool *zeroed);
    // false: it was released already.
    bool release_run(Superblock *run);
    // In place. false: not possible.
    bool resize_run(Superblock *run, UnitCount count);
    // Releases what signal handlers had deferred.
    void release_deferred();

  private:
    void leave_tail(Superblock *run, std::size_t kept, std::size_t absent);

    Region &region_;
    Superblocks &superblocks_;
    PageHeap &pages_;
    std::atomic<Superblock *> deferred_{nullptr};  // a push releases; the exchange that takes all acquires
};

}  // namespace gr
