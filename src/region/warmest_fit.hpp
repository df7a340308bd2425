// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: finds the place with the most resident units for a run that may be longer than a chunk.
// Invariant: a place lies at an end of a maximal row of free units, so that the rest of the row stays in one piece. Of
//    equally warm places the place in the shortest row is taken, then the lowest place.
// Must not know: who keeps the masks; what a run is for.
#pragma once

#include "base/bits.hpp"
#include "base/config.hpp"
#include "base/units.hpp"

namespace gr {

// Units are numbered from the first unit of the first chunk.
class WarmestFit {
  public:
    static constexpr std::uint64_t kNone = UINT64_MAX;

    constexpr WarmestFit(UnitCount count, UnitCount alignment) : count_(count.value), alignment_(alignment.value) {}

    // free(c) and warm(c): masks of chunk c, for 0 to chunks - 1: which units are free, and which of these are warm.
    template <class Free, class Warm>
    constexpr std::uint64_t find(std::uint32_t chunks, Free free, Warm warm) {
        std::uint64_t row = 0;  // first unit of the row
        std::uint64_t length = 0;
        for (std::uint32_t c = 0; c < chunks; ++c) {
            const std::uint64_t begin = std::uint64_t{c} * kUnitsPerChunk;
            for (unsigned bit = 0; bit < kUnitsPerChunk;) {
                const std::uint32_t left = free(c) >> bit;
                const auto used = static_cast<unsigned>(std::countr_zero(left));
                if (used != 0) {
                    consider(row, length, warm);
                    length = 0;
                    bit += used;
                    continue;
                }
                const auto ones = static_cast<unsigned>(std::countr_one(left));
                if (length == 0) row = begin + bit;
                length += ones;
                bit += ones;
            }
        }
        consider(row, length, warm);
        return best_;
    }

  private:
    template <class Warm>
    constexpr void consider(std::uint64_t row, std::uint64_t length, Warm warm) {
        if (length < count_) return;
        const std::uint64_t low = align_up(row, alignment_);
        const std::uint64_t high = align_down(row + length - count_, alignment_);
        if (low + count_ > row + length) return;
        judge(low, length, warm);
        if (high > low) judge(high, length, warm);
    }
    template <class Warm>
    constexpr void judge(std::uint64_t first, std::uint64_t length, Warm warm) {
        std::uint64_t units = 0;
        for (std::uint64_t u = first, left = count_; left != 0;) {
            const auto bit = static_cast<unsigned>(u % kUnitsPerChunk);
            const std::uint64_t here = left < kUnitsPerChunk - bit ? left : kUnitsPerChunk - bit;
            const std::uint32_t mask = run_mask(bit, static_cast<unsigned>(here));
            units += static_cast<unsigned>(std::popcount(warm(static_cast<std::uint32_t>(u / kUnitsPerChunk)) & mask));
            u += here;
            left -= here;
        }
        if (best_ != kNone && (units < warmest_ || (units == warmest_ && length >= shortest_))) return;
        best_ = first;
        warmest_ = units;
        shortest_ = length;
    }

    std::uint64_t count_;
    std::uint64_t alignment_;
    std::uint64_t best_ = kNone;
    std::uint64_t warmest_ = 0;
    std::uint64_t shortest_ = 0;
};

}  // namespace gr
