// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: bins: the sizes that blocks have, each a given part larger than the one before (Hoard 3: b = 1.2); and a size's
//    bin in a constant number of instructions: a table by the size (LFMalloc 3.2.2, item 6; pseudo-code line 5).
// Invariant: of a size up to largest() the bin is the smallest that holds it; a bin is at most the given part larger
//    than the one before, but by kAlignment at least, and a multiple of it.
// Must not know: what a block of a bin is, and headers: a caller whose blocks have headers asks for the size with them.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>

#include "base/bits.hpp"
#include "parts/contract/allocator.hpp"

namespace gr::lab {

// Chosen at run time, or a constant.
template <std::size_t kLargest, unsigned kMostBins>
class RadixMap {
    static_assert(kLargest % kAlignment == 0 && kMostBins <= UINT8_MAX + 1U, "a bin has an 8-bit number");

  public:
    constexpr RadixMap() = default;
    // Bins from kAlignment to `largest`, each `hundredths` / 100 of the last. What would be one bin too many is the largest,
    // too.
    constexpr RadixMap(std::size_t largest, unsigned hundredths) {
        std::size_t size = kAlignment;
        std::size_t step = 0;
        for (;;) {
            if (bins_ == kMostBins - 1 || size > largest) size = largest;
            sizes_[bins_] = static_cast<std::uint32_t>(size);
            for (; step <= size / kAlignment; ++step) bin_of_step_[step] = static_cast<std::uint8_t>(bins_);
            ++bins_;
            if (size == largest) return;
            const std::size_t next = align_down(size * hundredths / 100, kAlignment);
            size = next > size ? next : size + kAlignment;
        }
    }

    constexpr unsigned bin_of(std::size_t size) const { return bin_of_step_[(size + kAlignment - 1) / kAlignment]; }
    constexpr std::size_t size_of(unsigned bin) const { return sizes_[bin]; }
    constexpr unsigned bins() const { return bins_; }
    constexpr std::size_t largest() const { return bins_ == 0 ? 0 : sizes_[bins_ - 1]; }

  private:
    unsigned bins_ = 0;
    std::array<std::uint32_t, kMostBins> sizes_{};
    std::array<std::uint8_t, kLargest / kAlignment + 1> bin_of_step_{};
};

template <class B>
concept SizeBins = requires(std::size_t n, unsigned bin) {
    { B::kCount } -> std::convertible_to<unsigned>;
    { B::bin_of(n) } -> std::same_as<unsigned>;
    { B::size_of(bin) } -> std::same_as<std::size_t>;
    { B::largest() } -> std::same_as<std::size_t>;
};

// The same for all: from kAlignment to kLargest, at most kTenths / 10 each of the last.
template <std::size_t kLargest, unsigned kTenths = 12>
class GeometricBins {
    static_assert(kTenths > 10, "each bin must be larger than the one before");
    static_assert(kLargest % kAlignment == 0 && kLargest >= 64 * kAlignment, "the exact bins come before the others");

    static constexpr RadixMap<kLargest, 128> kMap{kLargest, kTenths * 10};

  public:
    static constexpr unsigned kCount = kMap.bins();
    static constexpr std::size_t largest() { return kLargest; }
    static constexpr std::size_t size_of(unsigned bin) { return kMap.size_of(bin); }
    static constexpr unsigned bin_of(std::size_t size) { return kMap.bin_of(size); }
};

}  // namespace gr::lab
