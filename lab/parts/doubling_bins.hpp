// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: bins as Doug Lea's (Wasik 4.2): one for each small size, then some for each doubling.
// Invariant: as SizeBins has it; up to kExactLimit a bin has one size.
// Must not know: headers: who has some asks for the size with them.
#pragma once

#include <algorithm>

#include "parts/size_bins.hpp"

namespace gr::lab {

template <std::size_t kLargest>
class DoublingBins {
    static constexpr std::size_t kExactLimit = 1024;
    static constexpr unsigned kExact = kExactLimit / kAlignment;
    static constexpr unsigned kPartsShift = 2;  // of each doubling
    static constexpr unsigned kParts = 1U << kPartsShift;
    static constexpr unsigned kExactWidth = std::bit_width(kExactLimit);
    static_assert(kLargest % kAlignment == 0 && kLargest > kExactLimit);

  public:
    static constexpr std::size_t largest() { return kLargest; }
    static constexpr unsigned bin_of(std::size_t size) {
        const std::size_t below = size == 0 ? 0 : size - 1;
        if (below < kExactLimit) return static_cast<unsigned>(below / kAlignment);
        const unsigned doubling = static_cast<unsigned>(std::bit_width(below)) - kExactWidth;
        const std::size_t part = below >> (doubling + kExactWidth - 1 - kPartsShift) & (kParts - 1);
        return kExact + doubling * kParts + static_cast<unsigned>(part);
    }
    static constexpr unsigned kCount = bin_of(kLargest) + 1;
    static constexpr std::size_t size_of(unsigned bin) {
        if (bin < kExact) return (bin + 1) * kAlignment;
        const unsigned doubling = (bin - kExact) / kParts;
        const std::size_t part = kExactLimit / kParts << doubling;
        return std::min(kLargest, (kParts + 1 + (bin - kExact) % kParts) * part);
    }
};

static_assert(SizeBins<DoublingBins<2048>>);

}  // namespace gr::lab
