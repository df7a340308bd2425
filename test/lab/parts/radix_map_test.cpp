// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the unit tests of the table in lab/parts/layout/size_bins.hpp.
// Invariant: held against a search over the sizes.
// Must not know: who maps sizes.
#include "parts/layout/size_bins.hpp"

#include <gtest/gtest.h>

namespace gr::lab::radix_map_test {

using Map = RadixMap<32640, 128>;

TEST(RadixMap, AClassIsTheSmallestThatHoldsTheSize) {
    for (const unsigned hundredths : {105U, 120U, 140U, 200U}) {
        for (const std::size_t largest : {std::size_t{1984}, std::size_t{4032}, std::size_t{32640}}) {
            const Map map(largest, hundredths);
            ASSERT_EQ(map.largest(), largest);
            for (std::size_t size = 0; size <= largest; ++size) {
                const unsigned bin = map.bin_of(size);
                ASSERT_LT(bin, map.bins());
                ASSERT_GE(map.size_of(bin), size);
                if (bin != 0) {
                    ASSERT_LT(map.size_of(bin - 1), size);
                }
            }
        }
    }
}

// Hoard 3: worst-case internal fragmentation is b, but for the least step.
TEST(RadixMap, AClassIsAtMostBTimesTheOneBefore) {
    for (const unsigned hundredths : {105U, 120U, 140U, 200U}) {
        const Map map(32640, hundredths);
        for (unsigned bin = 1; bin < map.bins(); ++bin) {
            const std::size_t before = map.size_of(bin - 1);
            EXPECT_EQ(map.size_of(bin) % kAlignment, 0U);
            EXPECT_LE(map.size_of(bin), std::max(before * hundredths / 100, before + kAlignment)) << bin;
        }
    }
}

TEST(RadixMap, ClassesThatWouldBeTooManyEndWithTheLargest) {
    const RadixMap<4096, 8> map(4096, 120);
    EXPECT_EQ(map.bins(), 8U);
    EXPECT_EQ(map.size_of(map.bin_of(4096)), 4096U);
    EXPECT_EQ(map.bin_of(200), 7U);
}

}  // namespace gr::lab::radix_map_test
