// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a table with a row for each unit of the range: what a marker needs to know of the blocks in the unit.
// Invariant: a row that was never written is empty. A row of any address in the range may be read; only covered rows
//    are written.
// Must not know: where kinds begin and end; who marks.
#pragma once

#include "base/config.hpp"
#include "collector/descriptor.hpp"
#include "collector/marks.hpp"

namespace gr {

struct UnitRow {
    Mark *marks = nullptr;    // of the unit's first block
    Descriptor descriptor{};  // of each block in the unit
    std::uint64_t reciprocal = 0;
    std::uint32_t size = 0;    // of a block; 0: the unit has no blocks
    std::uint32_t blocks = 0;  // 0 with a size: the blocks do not begin and end within the unit

    std::size_t index_at(std::size_t offset) const { return (offset * reciprocal) >> ClassShape::kReciprocalShift; }
};

class UnitTable {
  public:
    constexpr UnitTable() = default;

    // Reserves addresses for a row for each unit of a range that begins at a unit. false: there are none.
    bool reserve(std::uintptr_t base, std::size_t bytes);
    // Commits memory for the rows of a part of the range. false: refused.
    bool cover(std::uintptr_t begin, std::uintptr_t end);

    // The row of the unit that a word within the range points into.
    UnitRow &of(std::uintptr_t word) const {
        return *reinterpret_cast<UnitRow *>(biased_rows_ + (word >> kUnitShift) * sizeof(UnitRow));
    }

    platform::Growing memory() const { return {&rows_, &count_, sizeof(UnitRow)}; }

  private:
    std::uintptr_t biased_rows_ = 0;  // where the row of the unit at address 0 would lie
    std::uintptr_t base_ = 0;
    std::size_t bytes_ = 0;
    void *rows_ = nullptr;
    std::size_t count_ = 0;
};

}  // namespace gr
