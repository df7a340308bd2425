// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: superblocks and runs out of units, and back: the border between heaps and the page heap; and what the unit map
//    says of them.
// Invariant: units that are nobody's have entry 0, and what was released has the owner kNobody; a release by a signal
//    handler that interrupted the heaps is deferred, never lost.
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

    // All blocks free, still nobody's and with no entries; nullptr: no memory.
    Superblock *acquire_superblock(ClassIndex c, Prefer prefer);
    // A superblock, nobody's already.
    void release(Superblock *s);

    // Under the lock of its owner: it is `to`'s from now on (rule 1).
    void hand_over(Superblock *s, OwnerIndex to);
    // The same: it is nobody's, and released.
    void take_back(Superblock *s);
    // What the unit map says of a unit; it may be stale.
    UnitEntry entry(UnitIndex u) const { return load_entry(region_, u); }

    // A single block of whole units at a multiple of `alignment` units; nullptr: no memory.
    Superblock *acquire_run(UnitCount count, UnitCount alignment, bool *zeroed);
    // false: it was released already.
    bool release_run(Superblock *run);
    // In place; false: cannot.
    bool resize_run(Superblock *run, UnitCount count);
    // What handlers released.
    void release_deferred();

  private:
    Region &region_;
    Superblocks &superblocks_;
    PageHeap &pages_;
    std::atomic<Superblock *> deferred_{nullptr};  // push: release; the exchange that takes all: acquire
};

}  // namespace gr
