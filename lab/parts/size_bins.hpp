// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: bins: the sizes that blocks have, each a given part larger than the one before (Hoard 3: b = 1.2).
// Invariant: size_of(bin_of(n)) >= n for every n up to largest(); a size is a multiple of kAlignment.
// Must not know: headers: who has some asks for the size with them.
#pragma once

#include <concepts>
#include <cstddef>

#include "parts/allocator.hpp"
#include "parts/radix_map.hpp"

namespace gr::lab {

template <class B>
concept SizeBins = requires(std::size_t n, unsigned bin) {
    { B::kCount } -> std::convertible_to<unsigned>;
    { B::bin_of(n) } -> std::same_as<unsigned>;
    { B::size_of(bin) } -> std::same_as<std::size_t>;
    { B::largest() } -> std::same_as<std::size_t>;
};

// From kAlignment to kLargest, at most kTenths / 10 each of the last.
template <std::size_t kLargest, unsigned kTenths = 12>
class GeometricBins {
    static_assert(kTenths > 10, "bins that do not grow have no end");
    static_assert(kLargest % kAlignment == 0 && kLargest >= 64 * kAlignment);

    static constexpr RadixMap<kLargest, 128> kMap{kLargest, kTenths * 10};

  public:
    static constexpr unsigned kCount = kMap.bins();
    static constexpr std::size_t largest() { return kLargest; }
    static constexpr std::size_t size_of(unsigned bin) { return kMap.size_of(bin); }
    static constexpr unsigned bin_of(std::size_t size) { return kMap.bin_of(size); }
};

}  // namespace gr::lab
