// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a cell for each block of one region, apart from the blocks.
// Invariant: rows lie as the bitmaps do, narrow or wide by class; a run's only cell is the first cell of its first
//    unit. Both tables have memory for the units that are covered at least; new cells are zero.
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
        measure(region);
        narrow_ = static_cast<Cell *>(platform::reserve(most_units_ * kNarrowRow * sizeof(Cell)));
        wide_ = static_cast<Cell *>(platform::reserve(most_units_ * kWideRow * sizeof(Cell)));
        if (narrow_ == nullptr || wide_ == nullptr) {
            unreserve();
            return false;
        }
        lay_out(Space::reserved);
        return true;
    }
    // In their place, a part of the caller's addresses where nothing is mapped: as they grow.
    void settle(const Region &region, char *place) {
        measure(region);
        narrow_ = reinterpret_cast<Cell *>(place);
        wide_ = narrow_ + most_units_ * kNarrowRow;
        lay_out(Space::open);
    }
    // Commits memory for the units below `end`. One call at a time. false: refused; what was committed stays.
    bool cover(UnitIndex end) {
        const std::size_t wanted = align_up(std::size_t{end.value}, step_units_);
        const std::size_t units = wanted < most_units_ ? wanted : most_units_;
        if (covers(UnitIndex(static_cast<std::uint32_t>(units - 1)))) return true;
        const std::size_t cells = (units - first_unit_.value) * sizeof(Cell);
        if (!narrow_cells_.ensure(cells * kNarrowRow, kUnitBytes) || !wide_cells_.ensure(cells * kWideRow, kUnitBytes))
            return false;
        covered_units_.store(units, std::memory_order_release);
        return true;
    }
    bool covers(UnitIndex unit) const { return unit.value < covered_units_.load(std::memory_order_acquire); }
    // Of what reserve() took.
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
    static constexpr std::size_t kBytesPerUnit = (kNarrowRow + kWideRow) * sizeof(Cell);
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
    // Covered at once: where addresses are scarce, and else.
    static constexpr std::size_t kScarceStepUnits = 128;
    static constexpr std::size_t kStepUnits = 4096;

    void measure(const Region &region) {
        first_unit_ = region.first_unit();
        most_units_ = first_unit_.value + std::size_t{region.chunk_limit()} * kUnitsPerChunk;
        covered_units_.store(first_unit_.value, std::memory_order_relaxed);
    }
    void lay_out(Space space) {
        step_units_ = space == Space::reserved ? kStepUnits : kScarceStepUnits;
        narrow_cells_ = cells_of(narrow_, kNarrowRow, space);
        wide_cells_ = cells_of(wide_, kWideRow, space);
    }
    // Of the region's units, which begin behind its unit map.
    CommittedPrefix cells_of(Cell *table, std::size_t row, Space space) const {
        auto *const begin = reinterpret_cast<char *>(table + first_unit_.value * row);
        return CommittedPrefix(begin, (most_units_ - first_unit_.value) * row * sizeof(Cell), space);
    }
    static platform::Range range_of(const Cell *table, std::size_t cells) {
        const auto *const begin = reinterpret_cast<const char *>(table);
        return table == nullptr ? platform::Range{} : platform::Range{begin, begin + cells * sizeof(Cell)};
    }

    // Rows are counted from unit 0 and have addresses from there on, although a region's units begin behind its unit
    // map.
    Cell *narrow_ = nullptr;
    Cell *wide_ = nullptr;
    CommittedPrefix narrow_cells_;
    CommittedPrefix wide_cells_;
    std::size_t step_units_ = kStepUnits;
    std::size_t most_units_ = 0;
    std::atomic<std::size_t> covered_units_{0};  // released by cover(), acquired by covers()
    UnitIndex first_unit_;
};

}  // namespace gr
