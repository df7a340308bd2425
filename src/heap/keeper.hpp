// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a collection leaves: nothing is cached, and of each superblock only the blocks stay that somebody names.
// Invariant: all locks are held and no sequence runs, from the first call to the last; afterwards every block is live or
//            free. Hoard's invariant and empty superblocks wait for Ownership::restore_invariants.
// Must not know: why a block is live.
#pragma once

#include "heap/ownership.hpp"

namespace gr {

class Keeper {
  public:
    constexpr Keeper(Owners &owners, Ownership &ownership, Region &region, Superblocks &superblocks)
        : owners_(owners), ownership_(ownership), region_(region), superblocks_(superblocks) {}

    // Magazines and letters are empty now; what lay in them counts as used until keep_only. What was freed by remote bits
    // is free.
    void drop_cached();

    // live(superblock, word): the bits of live blocks in one word of its bitmap. How many blocks became free.
    template <class Live>
    std::uint64_t keep_only(Live live) {
        std::uint64_t all = 0;
        for_each_superblock([&](OwnerIndex o, Superblock *s) {
            const std::uint32_t freed = superblocks_.keep_only(s, [&](std::uint32_t word) { return live(s, word); });
            if (freed != 0) ownership_.freed(o, s, freed);
            all += freed;
        });
        return all;
    }

  private:
    // Those that somebody owns.
    template <class Visit>
    void for_each_superblock(Visit visit) {
        for (UnitIndex u = region_.first_unit(); u < region_.unit_end(); ++u) {
            Superblock *const s = superblocks_.descriptor(u);
            if (s->use == UnitUse::superblock && owner_of(s) != kNobody) visit(owner_of(s), s);
        }
    }

    Owners &owners_;
    Ownership &ownership_;
    Region &region_;
    Superblocks &superblocks_;
};

}  // namespace gr
