// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: counts the blocks in the heaps for statistics, and checks all heaps as a whole.
// Invariant: changes nothing.
// Must not know: why a block is where it is.
#pragma once

#include "heap/global_free.hpp"
#include "heap/owners.hpp"
#include "region/page_heap.hpp"
#include "superblock/superblocks.hpp"

namespace gr {

class Census {
  public:
    constexpr Census(const Owners &owners, const GlobalFree &global_free, const Region &region,
                     const Superblocks &superblocks, const PageHeap &pages)
        : owners_(owners), global_free_(global_free), region_(region), superblocks_(superblocks), pages_(pages) {}

    // Adds the blocks in magazines and messages, by class. No lock is held, so the numbers may be stale.
    void count_cached(std::uint64_t (&blocks)[kClassCount]) const;
    // Blocks in the superblocks of a class, of all owners. Read without their locks, so the numbers may be stale.
    struct ClassUse {
        std::uint64_t blocks = 0;
        std::uint64_t free = 0;
    };
    ClassUse class_use(ClassIndex c) const;
    // All locks are held. Names the first fault that is found; nullptr: there is none.
    [[gnu::cold]] const char *first_fault() const;

  private:
    bool has_agreed_capacities(OwnerIndex o) const;

    const Owners &owners_;
    const GlobalFree &global_free_;
    const Region &region_;
    const Superblocks &superblocks_;
    const PageHeap &pages_;
};

}  // namespace gr
