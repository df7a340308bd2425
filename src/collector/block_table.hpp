// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a cell for each block of one region, apart from the blocks.
// Invariant: rows lie as the bitmaps do, narrow or wide by class; a run's only cell is the first cell of its first
//    unit. Both tables are committed for the same units; new cells are zero.
// Must not know: what the cells mean.
#pragma once

#include <array>
#include <atomic>

#include "platform/memory.hpp"
#include "platform/world/range.hpp"
#include "superblock/superblocks.hpp"

namespace gr {

template <class Cell>
class BlockTable {
  public:
    constexpr BlockTable() = default;
    BlockTable(const BlockTable &) = delete;
    BlockTable &operator=(const BlockTable &) = delete;

    // Reserves addresses for all units that the region may ever have. false: there are none.
    bool reserve(const Region &region) {
        first_unit_ = region.first_unit();
        most_units_ = first_unit_.value + std::size_t{region.chunk_limit()} * kUnitsPerChunk;
        covered_units_.store(first_unit_.value, std::memory_order_relaxed);
        narrow_ = static_cast<Cell *>(platform::reserve(most_units_ * kNarrowRow * sizeof(Cell)));
        wide_ = static_cast<Cell *>(platform::reserve(most_units_ * kWideRow * sizeof(Cell)));
        if (narrow_ != nullptr && wide_ != nullptr) return true;
        unreserve();
        return false;
    }
    // Commits memory for the units below `end`. One call at a time. false: refused; what was committed stays.
    bool cover(UnitIndex end) {
        const std::size_t wanted = align_up(std::size_t{end.value}, kStepUnits);
        const std::size_t units = wanted < most_units_ ? wanted : most_units_;
        if (covers(UnitIndex(static_cast<std::uint32_t>(units - 1)))) return true;
        if (!cover(narrow_, kNarrowRow, units) || !cover(wide_, kWideRow, units)) return false;
        covered_units_.store(units, std::memory_order_release);
        return true;
    }
    bool covers(UnitIndex unit) const { return unit.value < covered_units_.load(std::memory_order_acquire); }
    void unreserve() {
        for (const platform::Range range : addresses()) {
            if (!range.is_empty()) platform::unmap(const_cast<char *>(range.begin), range.bytes());
        }
        narrow_ = wide_ = nullptr;
        covered_units_.store(first_unit_.value, std::memory_order_relaxed);
    }
    // Of both tables.
    std::array<platform::Range, 2> addresses() const {
        return {range_of(narrow_, most_units_ * kNarrowRow), range_of(wide_, most_units_ * kWideRow)};
    }

    std::array<platform::Growing, 2> memory() const {
        return {{{&narrow_, &most_units_, kNarrowRow * sizeof(Cell)}, {&wide_, &most_units_, kWideRow * sizeof(Cell)}}};
    }

    static constexpr std::size_t kNarrowRow = Superblocks::kNarrowWords * kWordBits;
    static constexpr std::size_t kWideRow = Superblocks::kWideWords * kWordBits;
    // The cell of the first block of the superblock or run that begins at this unit.
    Cell *row(UnitIndex first, bool wide) const {
        return wide ? wide_ + first.value * kWideRow : narrow_ + first.value * kNarrowRow;
    }
    Cell *row(const Superblock *s) const {
        return row(s->unit, s->use == UnitUse::superblock && Superblocks::is_wide(s->size_class));
    }

  protected:
    std::size_t covered_rows() const { return covered_units_.load(std::memory_order_relaxed) - first_unit_.value; }
    UnitIndex first_unit() const { return first_unit_; }

  private:
    static constexpr std::size_t kStepUnits = 4096;  // committed at once

    static platform::Range range_of(const Cell *table, std::size_t cells) {
        const auto *const begin = reinterpret_cast<const char *>(table);
        return table == nullptr ? platform::Range{} : platform::Range{begin, begin + cells * sizeof(Cell)};
    }
    bool cover(Cell *table, std::size_t row, std::size_t units) const {
        const std::size_t covered = covered_units_.load(std::memory_order_relaxed);
        return platform::commit(table + covered * row, (units - covered) * row * sizeof(Cell));
    }

    // Rows are counted from unit 0 and have addresses from there on, although a region's units begin behind its unit
    // map.
    Cell *narrow_ = nullptr;
    Cell *wide_ = nullptr;
    std::size_t most_units_ = 0;
    std::atomic<std::size_t> covered_units_{0};  // released by cover(), acquired by covers()
    UnitIndex first_unit_;
};

}  // namespace gr
