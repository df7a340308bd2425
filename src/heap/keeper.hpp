// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a heap as a collection sees it: nothing is cached, and of each superblock only the blocks stay that somebody names.
// Invariant: all locks are held and no sequence runs, from the first call to the last; afterwards every block is live or
//            free. Hoard's invariant and empty superblocks wait for Ownership::restore_invariants and release_all_empty.
// Must not know: why a block is live.
#pragma once

#include "heap/ownership.hpp"

namespace gr {

class Keeper {
  public:
    constexpr Keeper(Owners &owners, Ownership &ownership, Region &region, Superblocks &superblocks)
        : owners_(owners), ownership_(ownership), region_(region), superblocks_(superblocks) {}

    // What lies in magazines and letters: free, although its bits say that it is in use.
    template <class Visit>
    void for_each_cached(Visit visit) const {
        owners_.for_each_heap([&](OwnerIndex o) {
            const Slab slab = owners_.slab(o);
            for (std::uint32_t i = 0; i < platform::kHeaderCount; ++i) {
                const std::uint32_t header = platform::header_offset(i);
                const platform::MagazineHeader magazine = slab.header(header);
                for (std::uint32_t slot = magazine.begin; slot < magazine.current; ++slot)
                    visit(slab.peek(header, slot));
            }
            owners_.outbox(o).for_each_block(visit);
        });
    }
    // Magazines and letters are empty now; what lay in them counts as used until keep_only. What was freed by remote bits
    // is free.
    void drop_cached();

    // Free blocks, by the word of their superblock's bitmap: visit(superblock, word, bits).
    template <class Visit>
    void for_each_free_word(Visit visit) const {
        for_each_superblock([&](Superblock *s) {
            if (s->free_count == 0) return;
            Bitmap free = superblocks_.free_bits(s);
            for (std::uint32_t w = s->first_word; w < free.word_count(); ++w)
                if (free.word(w) != 0) visit(s, w, free.word(w));
        });
    }

    // live(superblock, word): the bits of live blocks in one word of its bitmap. How many blocks became free.
    template <class Live>
    std::uint64_t keep_only(Live live) {
        std::uint64_t all = 0;
        for_each_superblock([&](Superblock *s) {
            const std::uint32_t freed = superblocks_.keep_only(s, [&](std::uint32_t word) { return live(s, word); });
            if (freed != 0) ownership_.freed(owner_of(s), s, freed);
            all += freed;
        });
        return all;
    }

    // Those that somebody owns.
    template <class Visit>
    void for_each_superblock(Visit visit) const {
        for_each_unit([&](Superblock *s) {
            if (s->use == UnitUse::superblock && owner_of(s) != kNobody) visit(s);
        });
    }
    template <class Visit>
    void for_each_run(Visit visit) const {
        for_each_unit([&](Superblock *s) {
            if (s->use == UnitUse::run) visit(s);
        });
    }

    // Ranges of units in which no block is used: visit(first, end).
    template <class Visit>
    void for_each_empty_range(Visit visit) const {
        UnitIndex empty = region_.first_unit();
        for_each_unit([&](Superblock *s) {
            const bool is_used = s->use == UnitUse::run || (s->use == UnitUse::superblock && s->used_count() != 0);
            if (!is_used) return;
            if (empty < s->unit) visit(empty, s->unit);
            empty = s->unit + s->units;
        });
        if (empty < region_.unit_end()) visit(empty, region_.unit_end());
    }

  private:
    template <class Visit>
    void for_each_unit(Visit visit) const {
        for (UnitIndex u = region_.first_unit(); u < region_.unit_end();) {
            Superblock *const s = superblocks_.descriptor(u);
            visit(s);
            const bool is_something = s->use == UnitUse::superblock || s->use == UnitUse::run;
            u = u + (is_something ? s->units : UnitCount(1));
        }
    }

    Owners &owners_;
    Ownership &ownership_;
    Region &region_;
    Superblocks &superblocks_;
};

}  // namespace gr
