// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: for each unit of the range what a marker needs to know of the blocks in it, in one row of a table.
// Invariant: a row that nobody wrote is empty. Rows are read by any address of the range; only those that were covered
//    are written.
// Must not know: where kinds begin and end; who marks.
#pragma once

#include "base/config.hpp"
#include "collector/descriptor.hpp"
#include "collector/marks.hpp"

namespace gr {

struct Place {
    Mark *marks = nullptr;    // of its first block
    Descriptor descriptor{};  // of each of its blocks
    std::uint64_t reciprocal = 0;
    std::uint32_t size = 0;    // of a block; 0: there are none
    std::uint32_t blocks = 0;  // 0, but a size: they do not begin and end within the unit

    std::size_t index_at(std::size_t offset) const { return (offset * reciprocal) >> ClassShape::kReciprocalShift; }
};

class Places {
  public:
    constexpr Places() = default;

    // Addresses for as many rows as there are units in a range that begins at one. false: there are none.
    bool reserve(std::uintptr_t base, std::size_t bytes);
    // Memory for the rows of such a part of the range. false: refused.
    bool cover(std::uintptr_t begin, std::uintptr_t end);

    // Of a word within the range.
    Place &of(std::uintptr_t word) const {
        return *reinterpret_cast<Place *>(biased_rows_ + (word >> kUnitShift) * sizeof(Place));
    }

    platform::Growing memory() const { return {&rows_, &count_, sizeof(Place)}; }

  private:
    std::uintptr_t biased_rows_ = 0;  // so that a word's unit, counted from address 0, leads to its row
    std::uintptr_t base_ = 0;
    std::size_t bytes_ = 0;
    void *rows_ = nullptr;
    std::size_t count_ = 0;
};

}  // namespace gr
