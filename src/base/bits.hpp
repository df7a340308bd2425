// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: arithmetic on powers of two and on the bits of a word.
// Invariant: pure functions, all usable at compile time.
// Must not know: anything beyond integers.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace gr {

using Word = std::uint64_t;
inline constexpr unsigned kWordBits = 64;

constexpr bool is_power_of_two(std::size_t n) { return std::has_single_bit(n); }

constexpr std::size_t align_down(std::size_t n, std::size_t alignment) { return n & ~(alignment - 1); }
constexpr std::size_t align_up(std::size_t n, std::size_t alignment) {
    return align_down(n + alignment - 1, alignment);
}

constexpr std::size_t divide_up(std::size_t n, std::size_t by) { return (n + by - 1) / by; }

// The lowest `count` bits set; count may be the whole word.
constexpr Word low_bits(unsigned count) { return count >= kWordBits ? ~Word{0} : (Word{1} << count) - 1; }

// The lowest position of `length` consecutive ones in mask, or -1. After each step, the ones left mark where a run of
// `found` ones begins.
constexpr int find_run(std::uint32_t mask, unsigned length) {
    unsigned found = 1;
    while (found < length && mask != 0) {
        const unsigned step = length - found < found ? length - found : found;
        mask &= mask >> step;
        found += step;
    }
    return mask == 0 ? -1 : std::countr_zero(mask);
}

// The length of the longest run of ones, without a branch that depends on it.
constexpr unsigned longest_run(std::uint32_t mask) {
    const std::uint32_t two = mask & mask >> 1;  // where runs of two begin
    const std::uint32_t four = two & two >> 2;
    const std::uint32_t eight = four & four >> 4;
    const std::uint32_t sixteen = eight & eight >> 8;
    if (mask == UINT32_MAX) return 32;
    unsigned length = 0;
    std::uint32_t begins = UINT32_MAX;  // where runs of `length` ones begin
    const auto lengthen = [&](std::uint32_t more, unsigned by) {
        const std::uint32_t longer = begins & more >> length;
        length += longer != 0 ? by : 0;
        begins = longer != 0 ? longer : begins;
    };
    lengthen(sixteen, 16);
    lengthen(eight, 8);
    lengthen(four, 4);
    lengthen(two, 2);
    lengthen(mask, 1);
    return length;
}

// The ones of the mask that lie in runs of at least `least` ones.
constexpr std::uint32_t runs_of(std::uint32_t mask, unsigned least) {
    std::uint32_t begins = mask;
    for (unsigned i = 1; i < least; ++i) begins &= mask >> i;
    std::uint32_t runs = begins;
    for (unsigned i = 1; i < least; ++i) runs |= begins << i;
    return runs;
}

constexpr std::uint32_t run_mask(unsigned first, unsigned length) {
    return static_cast<std::uint32_t>(low_bits(length) << first);
}

}  // namespace gr
