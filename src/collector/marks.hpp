// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a mark for each block of one region: the number of the collection that last reached it.
// Invariant: a mark counts in the collection whose number it is, so nothing is cleared but when the numbers begin anew.
//            Rows lie as the bitmaps do, narrow or wide by class; a run's only mark is the first of its first unit.
// Must not know: who marks; what is done with what is not marked.
#pragma once

#include <atomic>

#include "superblock/superblocks.hpp"

namespace gr {

using Mark = std::atomic<std::uint8_t>;  // relaxed: who marks twice has worked twice, no more

class Marks {
  public:
    constexpr Marks() = default;
    Marks(const Marks &) = delete;
    Marks &operator=(const Marks &) = delete;

    // Addresses for all units that the region may ever have. false: there are none.
    bool reserve(const Region &region);
    // Memory for those below `end`. false: refused; what there was stays.
    bool cover(UnitIndex end);
    bool covers(UnitIndex unit) const { return unit.value < covered_units_; }
    void unreserve();

    static constexpr std::size_t kNarrowRow = Superblocks::kNarrowWords * kWordBits;
    static constexpr std::size_t kWideRow = Superblocks::kWideWords * kWordBits;
    // Of the first block of what begins there.
    Mark *row(UnitIndex first, bool wide) const {
        return wide ? wide_ + first.value * kWideRow : narrow_ + first.value * kNarrowRow;
    }
    // So many blocks of one word of a superblock's bitmap bear the number from now on.
    void stamp(const Superblock *s, std::uint32_t word, Word bits, std::uint8_t number) const;
    // The bits of the blocks in one word of a superblock's bitmap that this collection reached.
    Word live(const Superblock *s, std::uint32_t word, std::uint8_t number) const;
    // Every mark is 0.
    void clear();

  private:
    static void clear(Mark *marks, std::size_t bytes);
    bool cover(Mark *table, std::size_t row_bytes, std::size_t units);

    // Rows are counted from unit 0, and have addresses from there on: a region's units begin behind its unit map.
    Mark *narrow_ = nullptr;
    Mark *wide_ = nullptr;
    std::size_t most_units_ = 0;
    std::size_t covered_units_ = 0;
    UnitIndex first_unit_;
};

static_assert(sizeof(Mark) == 1);

}  // namespace gr
