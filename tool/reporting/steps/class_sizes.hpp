// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how large a block is that an allocator hands out for a request, by Granary's size classes
//    (docs/design/size-classes.md) and by powers of two.
// Invariant: never less than was asked for; Granary's are those of the library, which a test compares.
// Must not know: how the library comes to its classes.
#pragma once

#include <bit>
#include <cstdint>

namespace gr::tool {

constexpr std::uint64_t granary_block(std::uint64_t size) {
    constexpr std::uint64_t kStep = 16;
    constexpr std::uint64_t kFineLimit = 1024;
    constexpr unsigned kStepsPerDoublingLog = 3;
    constexpr std::uint64_t kClassLimit = 32 * 1024;
    constexpr std::uint64_t kPage = 4096;
    const auto up_to = [size](std::uint64_t step) { return (size + step - 1) / step * step; };
    if (size == 0) return kStep;
    if (size <= kFineLimit) return up_to(kStep);
    if (size <= kClassLimit) return up_to(std::bit_floor(size - 1) >> kStepsPerDoublingLog);
    return size > UINT64_MAX - kPage ? size : up_to(kPage);
}

constexpr std::uint64_t power_of_two_block(std::uint64_t size) {
    constexpr std::uint64_t kLeast = 16;
    return size <= kLeast ? kLeast : size > UINT64_MAX / 2 ? size : std::bit_ceil(size);
}

}  // namespace gr::tool
