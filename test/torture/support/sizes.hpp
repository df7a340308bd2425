// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: request sizes that reach every size class, the runs above them and the direct mappings.
// Invariant: a size is named by its index in one constant table, which fits in 16 bits.
// Must not know: how the allocator rounds them.
#pragma once

#include "require.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace gr::test {

inline constexpr size_t kLargestClass = 32768;
inline constexpr size_t kSmallSteps = 64;  // 16, 32 ... 1024
inline constexpr size_t kDoublings = 5;    // 1024 to 32768, eight classes each
inline constexpr size_t kClassCount = kSmallSteps + 8 * kDoublings;
inline constexpr std::array<size_t, 6> kRunSizes = {32769, 65536, 100001, 262144, 1048577, 3000000};
inline constexpr std::array<size_t, 2> kDirectSizes = {(size_t{32} << 20) + 1, size_t{40} << 20};

// Each class by its largest request and by one a little smaller; then the runs; then the direct mappings.
inline constexpr size_t kClassSizes = 2 * kClassCount;
inline constexpr size_t kSizeCount = kClassSizes + kRunSizes.size() + kDirectSizes.size();

constexpr size_t largest_of_class(size_t number) {
    if (number < kSmallSteps) return 16 * (number + 1);
    const size_t step = number - kSmallSteps;
    const size_t floor = size_t{1024} << (step / 8);
    return floor + floor / 8 * (step % 8 + 1);
}
static_assert(largest_of_class(0) == 16 && largest_of_class(kSmallSteps - 1) == 1024);
static_assert(largest_of_class(kSmallSteps) == 1152 && largest_of_class(kClassCount - 1) == kLargestClass);

constexpr std::array<size_t, kSizeCount> make_sizes() {
    std::array<size_t, kSizeCount> sizes = {};
    size_t count = 0;
    for (size_t number = 0; number < kClassCount; ++number) {
        sizes[count++] = largest_of_class(number);
        sizes[count++] = largest_of_class(number) - 5;
    }
    for (const size_t size : kRunSizes) sizes[count++] = size;
    for (const size_t size : kDirectSizes) sizes[count++] = size;
    return sizes;
}
inline constexpr std::array<size_t, kSizeCount> kSizes = make_sizes();

// Mostly small, as programs are; yet every index comes up.
inline size_t pick_size_index(Random &random) {
    const uint64_t dice = random.below(10000);
    if (dice < 9000) return random.below(2 * kSmallSteps);
    if (dice < 9950) return random.below(kClassSizes);
    if (dice < 9998) return kClassSizes + random.below(kRunSizes.size());
    return kClassSizes + kRunSizes.size() + random.below(kDirectSizes.size());
}

}  // namespace gr::test
