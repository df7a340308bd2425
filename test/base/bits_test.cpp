// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the arithmetic of bits.hpp against loops that cannot be wrong.
// Invariant: exhaustive where the domain is small, random elsewhere.
// Must not know: who uses the arithmetic.
#include "base/bits.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace gr::bits_test {

int naive_find_run(std::uint32_t mask, unsigned length) {
    for (unsigned at = 0; at + length <= 32; ++at) {
        unsigned ones = 0;
        while (ones < length && (mask >> (at + ones) & 1) != 0) ++ones;
        if (ones == length) return static_cast<int>(at);
    }
    return -1;
}

unsigned naive_longest_run(std::uint32_t mask) {
    unsigned longest = 0;
    unsigned here = 0;
    for (unsigned bit = 0; bit < 32; ++bit) {
        here = (mask >> bit & 1) != 0 ? here + 1 : 0;
        if (here > longest) longest = here;
    }
    return longest;
}

void expect_runs(std::uint32_t mask) {
    ASSERT_EQ(longest_run(mask), naive_longest_run(mask)) << std::hex << mask;
    for (unsigned length = 1; length <= 32; ++length) {
        ASSERT_EQ(find_run(mask, length), naive_find_run(mask, length))
            << std::hex << mask << " " << std::dec << length;
    }
}

TEST(Bits, RunsInEveryMaskOfSixteenBits) {
    for (std::uint32_t low = 0; low < 1U << 16; low += 1) {
        ASSERT_EQ(longest_run(low << 9), naive_longest_run(low << 9));
        const unsigned length = 1 + low % 17;
        ASSERT_EQ(find_run(low << 9, length), naive_find_run(low << 9, length)) << low << " " << length;
    }
}

TEST(Bits, RunsAtTheEnds) {
    for (unsigned length = 0; length <= 32; ++length) {
        expect_runs(static_cast<std::uint32_t>(low_bits(length)));
        expect_runs(static_cast<std::uint32_t>(low_bits(length)) << (32 - (length == 0 ? 1 : length)));
    }
    expect_runs(0x55555555);
}

RC_GTEST_PROP(Bits, RunsInAnyMask, (std::uint32_t a, std::uint32_t b)) {
    expect_runs(a);
    expect_runs(a | b);
    expect_runs(a & b);
    RC_ASSERT(!testing::Test::HasFailure());
}

RC_GTEST_PROP(Bits, RunMaskCoversItsRun, ()) {
    const unsigned first = *rc::gen::inRange(0U, 32U);
    const unsigned length = *rc::gen::inRange(0U, 33U - first);
    const std::uint32_t mask = run_mask(first, length);
    for (unsigned bit = 0; bit < 32; ++bit) {
        RC_ASSERT((mask >> bit & 1) == (bit >= first && bit < first + length));
    }
}

RC_GTEST_PROP(Bits, Aligning, (std::uint32_t n)) {
    const std::size_t alignment = std::size_t{1} << *rc::gen::inRange(0, 24);
    const std::size_t down = align_down(n, alignment);
    const std::size_t up = align_up(n, alignment);
    RC_ASSERT(down % alignment == 0U);
    RC_ASSERT(up % alignment == 0U);
    RC_ASSERT(down <= n && n - down < alignment);
    RC_ASSERT(up >= n && up - n < alignment);
    RC_ASSERT(divide_up(n, alignment) * alignment == up);
}

TEST(Bits, PowersOfTwoAndLowBits) {
    EXPECT_FALSE(is_power_of_two(0));
    for (unsigned bit = 0; bit < 64; ++bit) {
        EXPECT_TRUE(is_power_of_two(std::size_t{1} << bit));
        if (bit > 1) {
            EXPECT_FALSE(is_power_of_two((std::size_t{1} << bit) + 1));
        }
        EXPECT_EQ(std::popcount(low_bits(bit)), static_cast<int>(bit));
        EXPECT_EQ(low_bits(bit) >> bit, 0U);
    }
    EXPECT_EQ(low_bits(64), ~Word{0});
}

TEST(Bits, RowsOfAtLeastSoMany) {
    EXPECT_EQ(runs_of(0b1011'0111, 1), 0b1011'0111U);
    EXPECT_EQ(runs_of(0b1011'0111, 2), 0b0011'0111U);
    EXPECT_EQ(runs_of(0b1011'0111, 3), 0b0000'0111U);
    EXPECT_EQ(runs_of(0b1011'0111, 4), 0U);
    EXPECT_EQ(runs_of(~std::uint32_t{0}, 32), ~std::uint32_t{0});
    EXPECT_EQ(runs_of(~std::uint32_t{0} << 1, 32), 0U);
}

}  // namespace gr::bits_test
