// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a heap as a collection sees it: nothing is cached, and each superblock keeps only the blocks that the caller
//    names.
// Invariant: all locks are held and no sequence runs, from the first call to the last, except where a function says
//    otherwise. Afterwards every block is live or free. Only Ownership::restore_invariants restores Hoard's invariant,
//    and only release_all_empty releases the empty superblocks.
// Must not know: why a block is live.
#pragma once

#include <array>

#include "heap/ownership.hpp"

namespace gr {

class CollectorView {
  public:
    constexpr CollectorView(Owners &owners, Ownership &ownership, Region &region, Superblocks &superblocks)
        : owners_(owners), ownership_(ownership), region_(region), superblocks_(superblocks) {}

    // Visits the blocks in magazines and messages. They are free, although their bits say that they are in use.
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
    // Empties magazines and messages; their blocks count as used until keep_only. Blocks that were freed by remote bits
    // become free.
    void drop_cached();
    // Like drop_cached, but leaves the remote bits alone: blocks that were freed that way wait on, as without a
    // collection.
    void drop_held();

    // Visits the words of the superblock's bitmap that have free blocks: visit(word, bits).
    template <class Visit>
    void for_each_free_word(Superblock *s, Visit visit) const {
        if (s->free_count == 0) return;
        Bitmap free = superblocks_.free_bits(s);
        for (std::uint32_t w = s->first_word; w < free.word_count(); ++w)
            if (free.word(w) != 0) visit(w, free.word(w));
    }
    // No lock is held, and the program runs. Visits the superblocks that begin at these units, each under its owner's
    // lock.
    template <class Visit>
    void for_each_superblock_now(UnitIndex first, UnitIndex end, Visit visit) {
        for (UnitIndex u = first; u < end; ++u) {
            ownership_.visit_superblock(u, [&](OwnerIndex, Superblock *s) {
                if (s->unit == u) visit(s);
            });
        }
    }

    // live(superblock, word): the bits of live blocks in one word of the bitmap. All other blocks become free. Returns
    // how many blocks became free.
    template <class Live>
    std::uint64_t keep_only(Live live) {
        std::uint64_t all = 0;
        for_each_superblock([&](Superblock *s) { all += keep_only(s, live); });
        return all;
    }
    // Like keep_only, called once in each collection. Afterwards `rested` tells whether a superblock had no more blocks
    // in use before this call than after the previous one.
    template <class Live>
    std::uint64_t sweep(Live live) {
        std::uint64_t all = 0;
        for_each_superblock([&](Superblock *s) { all += watching_rest(s, [&] { return keep_only(s, live); }); });
        return all;
    }

    // Like sweep, for the superblocks of which blocks were taken since the last collection. The others keep their blocks,
    // and count as not rested: their free pages were returned by an earlier collection. A block that another thread has
    // freed by a remote bit stays, and waits for the owner.
    template <class Live>
    std::uint64_t sweep_taken(Live live) {
        std::uint64_t all = 0;
        for_each_superblock([&](Superblock *s) {
            if (s->taken) {
                all += watching_rest(s, [&] { return keep_only_and_remote(s, live); });
            } else {
                s->rested = false;
            }
        });
        return all;
    }
    // The superblocks of cached blocks count as those of which blocks were taken: a cached block may be one that the program
    // has freed. Called before drop_cached().
    void take_cached() {
        for_each_cached([&](const void *p) {
            if (region_.contains(p)) superblocks_.head(region_.unit_of(p))->taken = true;
        });
    }

    // Like sweep, for the superblock that begins at `first` now, if any, under its owner's lock. It may be another
    // superblock than the caller found there. The caller holds no lock, and no thread frees a block that
    // live(superblock, word) does not name. Calls visit(superblock) at the end, under the same lock.
    template <class Live, class Visit>
    std::uint64_t sweep_of(UnitIndex first, Live live, Visit visit) {
        std::uint64_t all = 0;
        ownership_.visit_superblock(first, [&](OwnerIndex, Superblock *s) {
            if (s->unit != first) return;
            all = watching_rest(s, [&] { return keep_only_and_remote(s, live); });
            visit(s);
        });
        return all;
    }

    // After sweep or sweep_of, which left these blocks of the superblock that begins at `first`: frees them, under its
    // owner's lock. The caller holds no lock. A bit of `dead` stands for a block in use that no thread frees.
    void free_of(UnitIndex first, const std::array<Word, Superblocks::kWideWords> &dead) {
        ownership_.visit_superblock(first, [&](OwnerIndex, Superblock *s) {
            keep_only(s, [&](const Superblock *, std::uint32_t word) { return ~dead[word]; });
            s->kept = s->used_count();
        });
    }

    // Visits the superblocks whose owner is not kNobody.
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

    // Visits rows of neighbouring units that hold blocks in use, in the order of their addresses: visit(first, end, taken).
    // taken: blocks of all superblocks of the row were taken since the last collection, or of none.
    template <class Visit>
    void for_each_used_row(Visit visit) const {
        for_each_row(region_.first_unit(), region_.unit_end(), is_used, visit);
    }
    // Likewise of units between two, without superblocks of which less than half of the blocks are in use.
    template <class Visit>
    void for_each_filled_row(UnitIndex first, UnitIndex end, Visit visit) const {
        const auto is_filled = [](const Superblock *s) {
            return is_used(s) && (s->use == UnitUse::run || s->free_count <= s->used_count());
        };
        for_each_row(first, end, is_filled, visit);
    }
    template <class Visit>
    void for_each_filled_row(Visit visit) const {
        for_each_filled_row(region_.first_unit(), region_.unit_end(), visit);
    }

    // Visits the ranges of units in which no block is in use: visit(first, end).
    template <class Visit>
    void for_each_empty_range(Visit visit) const {
        UnitIndex empty = region_.first_unit();
        for_each_unit([&](Superblock *s) {
            if (!is_used(s)) return;
            if (empty < s->unit) visit(empty, s->unit);
            empty = s->unit + s->units;
        });
        if (empty < region_.unit_end()) visit(empty, region_.unit_end());
    }

  private:
    static bool is_used(const Superblock *s) {
        return s->use == UnitUse::run || (s->use == UnitUse::superblock && s->used_count() != 0);
    }
    template <class Wanted, class Visit>
    void for_each_row(UnitIndex first, UnitIndex end, Wanted is_wanted, Visit visit) const {
        UnitIndex begin = first;
        UnitIndex behind = first;
        bool taken = false;
        for_each_unit(first, end, [&](const Superblock *s, UnitIndex u) {
            if (!is_wanted(s)) return;
            const bool is_taken = s->use == UnitUse::superblock && s->taken;
            if (u != behind || is_taken != taken) {
                if (begin < behind) visit(begin, behind, taken);
                begin = u;
                taken = is_taken;
            }
            behind = s->unit + s->units;
        });
        if (begin < behind) visit(begin, behind, taken);
    }
    template <class Live>
    std::uint32_t keep_only(Superblock *s, Live live) {
        const std::uint32_t freed = superblocks_.keep_only(s, [&](std::uint32_t word) { return live(s, word); });
        if (freed != 0) ownership_.freed(owner_of(s), s, freed);
        return freed;
    }
    template <class Live>
    std::uint32_t keep_only_and_remote(Superblock *s, Live live) {
        const AtomicWord *const remote = superblocks_.remote_words(s);
        return keep_only(s, [&](const Superblock *, std::uint32_t word) {
            return live(s, word) | remote[word].load(std::memory_order_relaxed);
        });
    }
    // Runs the superblock's sweep, under its owner's lock, and records whether the superblock rested.
    template <class Sweep>
    static std::uint32_t watching_rest(Superblock *s, Sweep sweep) {
        s->rested = s->used_count() <= s->kept;
        const std::uint32_t freed = sweep();
        s->kept = s->used_count();
        s->taken = false;
        return freed;
    }
    template <class Visit>
    void for_each_unit(Visit visit) const {
        for_each_unit(region_.first_unit(), region_.unit_end(), [&](Superblock *s, UnitIndex) { visit(s); });
    }
    // Of superblocks and runs the first unit only. `first` is the first unit of what lies there.
    template <class Visit>
    void for_each_unit(UnitIndex first, UnitIndex end, Visit visit) const {
        for (UnitIndex u = first; u < end;) {
            Superblock *const s = superblocks_.descriptor(u);
            visit(s, u);
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
