// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: bins: the sizes that blocks have, each a given part larger than the one before (Hoard 3: b = 1.2).
// Invariant: size_of(bin_of(n)) >= n for every n up to largest(); a size is a multiple of kAlignment.
// Must not know: headers: who has some asks for the size with them.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "base/bits.hpp"
#include "parts/allocator.hpp"

namespace gr::lab {

template <class B>
concept SizeBins = requires(std::size_t n, unsigned bin) {
    { B::kCount } -> std::convertible_to<unsigned>;
    { B::bin_of(n) } -> std::same_as<unsigned>;
    { B::size_of(bin) } -> std::same_as<std::size_t>;
    { B::largest() } -> std::same_as<std::size_t>;
};

// From kAlignment to kLargest, kTenths / 10 each of the last.
template <std::size_t kLargest, unsigned kTenths = 12>
class GeometricBins {
    static_assert(kTenths > 10, "bins that do not grow have no end");
    static_assert(kLargest % kAlignment == 0 && kLargest >= 64 * kAlignment);

    static constexpr std::size_t after(std::size_t size) {
        const std::size_t next = align_up(size * kTenths / 10 + 1, kAlignment);
        return next < kLargest ? next : kLargest;
    }

  public:
    static constexpr unsigned kCount = [] {
        unsigned count = 1;
        for (std::size_t size = kAlignment; size < kLargest; size = after(size)) ++count;
        return count;
    }();

    static constexpr std::size_t largest() { return kLargest; }
    static constexpr std::size_t size_of(unsigned bin) { return kSizes[bin]; }
    // Small sizes by a table, the others by halving.
    static constexpr unsigned bin_of(std::size_t size) {
        const std::size_t step = (size + kAlignment - 1) / kAlignment;
        if (step < kSteps.size()) return kSteps[step];
        return static_cast<unsigned>(std::lower_bound(kSizes.begin(), kSizes.end(), size) - kSizes.begin());
    }

  private:
    static constexpr std::array<std::uint32_t, kCount> kSizes = [] {
        std::array<std::uint32_t, kCount> sizes{};
        std::size_t size = kAlignment;
        for (std::uint32_t &s : sizes) {
            s = static_cast<std::uint32_t>(size);
            size = after(size);
        }
        return sizes;
    }();
    static constexpr std::array<std::uint8_t, 65> kSteps = [] {
        std::array<std::uint8_t, 65> steps{};
        for (std::size_t step = 0; step < steps.size(); ++step)
            steps[step] = static_cast<std::uint8_t>(std::lower_bound(kSizes.begin(), kSizes.end(), step * kAlignment) -
                                                    kSizes.begin());
        return steps;
    }();
};

}  // namespace gr::lab
