// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which superblocks there were when the world stood, and which of their blocks were free.
// Invariant: what was not free then and is not marked is garbage, and nobody frees it but who sweeps: so a superblock
//    with such blocks stays what it was until they are swept. One that found no memory here is not swept.
// Must not know: what is marked; when it is swept; how it is found out what was written.
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
    // Of superblocks that begin at these units, as they are; once more of what may have changed since: whoever changes a
    // superblock's blocks writes to its bitmaps.
    void add(Kind &kind, UnitIndex first, UnitIndex end) {
        if (!cover(kind, end)) return;
        for (UnitIndex u = first; u < end; ++u) {
            const Superblock *const s = kind.instance.superblocks().descriptor(u);
            if (s->use == UnitUse::superblock && owner_of(s) != kNobody) {
                add(kind, u, s->size_class);
            } else if (const std::uint32_t at = entries_of_units_[kind.number][u.value]; at != kNone) {
                // It fell empty since, and its units may be another's before the sweep.
                entries_[at - 1].size_class = kNotSwept;
            }
        }
    }

    // visit(kind, superblock's first unit, its class, free(word)) for each.
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
        bool is_full;       // no block was free, and there are no words
        std::size_t words;  // of the first
    };
    static constexpr std::uint32_t kNone = 0;                         // else one more than where the entry stands
    static constexpr ClassIndex kNotSwept = ClassIndex(kClassCount);  // no superblock's

    bool cover(const Kind &kind, UnitIndex end) {
        auto &of_units = entries_of_units_[kind.number];
        while (of_units.size() < end.value) {
            if (!of_units.add(kNone)) return false;
        }
        return true;
    }

    // What strangers have freed is free, too: its owner may take it back before the sweep.
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
            // One that is not known any more is none that could be swept.
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
