// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what lies where in the heaps, counted from outside: for statistics, and for checks of the whole.
// Invariant: changes nothing.
// Must not know: why anything lies where it does.
#pragma once

#include "heap/owners.hpp"
#include "heap/slack.hpp"
#include "region/page_heap.hpp"
#include "superblock/superblocks.hpp"

namespace gr {

class Census {
  public:
    constexpr Census(const Owners &owners, const Slack &slack, const Region &region, const Superblocks &superblocks,
                     const PageHeap &pages)
        : owners_(owners), slack_(slack), region_(region), superblocks_(superblocks), pages_(pages) {}

    // Blocks in magazines and letters, by class, as far as can be told from outside.
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
    const Slack &slack_;
    const Region &region_;
    const Superblocks &superblocks_;
    const PageHeap &pages_;
};

}  // namespace gr
