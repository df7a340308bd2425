// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a size's class in a constant number of instructions: a table by the size (LFMalloc 3.2.2, item 6; pseudo-code line 5).
// Invariant: of a size up to largest() the class is the smallest that holds it; a class is at most the given part larger
//            than the one before, but by kAlignment at least.
// Must not know: what a block of a class is.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>

#include "base/bits.hpp"
#include "parts/allocator.hpp"

namespace gr::lab {

template <class M>
concept SizeMap = requires(const M map, std::size_t size, unsigned bin) {
    { M::kMostBins } -> std::convertible_to<unsigned>;
    { map.bin_of(size) } -> std::same_as<unsigned>;
    { map.size_of(bin) } -> std::same_as<std::size_t>;
    { map.bins() } -> std::same_as<unsigned>;
    { map.largest() } -> std::same_as<std::size_t>;
};

template <std::size_t kLargest, unsigned kMostBins_>
class RadixMap {
    static_assert(kLargest % kAlignment == 0 && kMostBins_ <= UINT8_MAX + 1U);

  public:
    static constexpr unsigned kMostBins = kMostBins_;

    constexpr RadixMap() = default;
    // Classes from kAlignment to `largest`, each `hundredths` / 100 of the last. What would be one class too many is the
    // largest, too.
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

static_assert(SizeMap<RadixMap<1024, 64>>);

}  // namespace gr::lab
