// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what lies where in the heaps, counted from outside: for statistics, and for checks of the whole.
// Invariant: changes nothing.
// Must not know: why anything lies where it does.
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

    // Blocks in magazines and messages, by class, as far as can be told from outside.
    void count_cached(std::uint64_t (&blocks)[kClassCount]) const;
    // Blocks in the superblocks of a class, whoever owns them, as far as can be told without their locks.
    struct ClassUse {
        std::uint64_t blocks = 0;
        std::uint64_t free = 0;
    };
    ClassUse class_use(ClassIndex c) const;
    // All locks are held. nullptr: there is none.
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
