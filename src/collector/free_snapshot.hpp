// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which superblocks existed at a stop, and which of their blocks were free.
// Invariant: a block that was not free then and is not marked is garbage, and only the sweep frees it. So a superblock
//    with such blocks stays what it was until it is swept. A superblock that found no memory here is not swept.
// Must not know: what is marked; when the sweep runs; how writes are found.
#pragma once

#include "collector/kinds.hpp"
#include "platform/world/mapped_list.hpp"

namespace gr {

class FreeSnapshot {
  public:
    constexpr FreeSnapshot() = default;

    void clear() {
        for (auto &of_units : entries_of_units_) of_units.clear();
        entries_.clear();
        words_.clear();
    }
    // Notes the superblocks that begin at these units. Called again for superblocks that may have changed since: a
    // thread that changes a superblock's blocks writes to its bitmaps.
    void add(Kind &kind, UnitIndex first, UnitIndex end) {
        if (!cover(kind, end)) return;
        for (UnitIndex u = first; u < end; ++u) {
            const Superblock *const s = kind.instance.superblocks().descriptor(u);
            if (s->use == UnitUse::superblock && owner_of(s) != kNobody) {
                add(kind, u, s->size_class);
            } else if (const std::uint32_t at = entries_of_units_[kind.number][u.value]; at != kNone) {
                // The superblock became empty since, and its units may get another use before the sweep.
                entries_[at - 1].size_class = kNotSwept;
            }
        }
    }

    // Calls visit(kind, first unit of the superblock, size class, free(word)) for each superblock.
    template <class Visit>
    void for_each(Visit visit) const {
        for (const Entry &entry : entries_.all()) {
            const Word *const free = entry.is_full ? nullptr : &words_[entry.words];
            visit(*entry.kind, entry.first, entry.size_class,
                  [free](std::uint32_t word) { return free == nullptr ? Word{0} : free[word]; });
        }
    }

    template <class Visit>
    void for_each_memory(Visit visit) const {
        visit(entries_.memory());
        visit(words_.memory());
        for (const auto &of_units : entries_of_units_) visit(of_units.memory());
    }

  private:
    struct Entry {
        Kind *kind;
        UnitIndex first;
        ClassIndex size_class;
        bool is_full;       // no block was free, and no words are stored
        std::size_t words;  // where the superblock's words begin
    };
    static constexpr std::uint32_t kNone = 0;                         // other values are the entry's index and one
    static constexpr ClassIndex kNotSwept = ClassIndex(kClassCount);  // no superblock has this class

    bool cover(const Kind &kind, UnitIndex end) {
        auto &of_units = entries_of_units_[kind.number];
        while (of_units.size() < end.value) {
            if (!of_units.add(kNone)) return false;
        }
        return true;
    }

    // Blocks that were freed by remote bits count as free: their owner may take them back before the sweep.
    void add(Kind &kind, UnitIndex first, ClassIndex c) {
        const Superblocks &superblocks = kind.instance.superblocks();
        const Superblocks::Bits bits = superblocks.bits_of(first, c);
        const std::size_t before = words_.size();
        Word any = 0;
        bool added = true;
        for (std::uint32_t w = 0; w < shape_of(c).words && added; ++w) {
            const Word both = bits.free[w] | bits.remote[w].load(std::memory_order_relaxed);
            any |= both;
            added = words_.add(both);
        }
        if (any == 0 || !added) words_.shrink(before);
        std::uint32_t &at = entries_of_units_[kind.number][first.value];
        const Entry entry{&kind, first, c, any == 0, before};
        if (at != kNone) {
            entries_[at - 1] = entry;
            // Without its words the superblock cannot be swept.
            if (!added) entries_[at - 1].size_class = kNotSwept;
        } else if (added && entries_.add(entry)) {
            at = static_cast<std::uint32_t>(entries_.size());
        }
    }

    std::array<platform::MappedList<std::uint32_t>, kMostKinds> entries_of_units_{};
    platform::MappedList<Entry> entries_;
    platform::MappedList<Word> words_;
};

}  // namespace gr
