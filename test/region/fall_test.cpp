// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: when a fall is deep, when it is at its end, and when the next begins.
// Invariant: numbers only.
// Must not know: the quantity.
#include "region/fall.hpp"

#include <gtest/gtest.h>

namespace gr::fall_test {

using Quarter = Fall<4, 16>;

Quarter after(std::initializer_list<std::size_t> values) {
    Quarter fall;
    for (const std::size_t value : values) fall.note(value);
    return fall;
}

TEST(FallTest, AGrowingQuantityIsAtNoEnd) {
    EXPECT_FALSE(after({1, 10, 100, 1000}).is_at_end());
    EXPECT_FALSE(after({1000, 800}).is_at_end()) << "not deep enough";
}

TEST(FallTest, ADeepFallIsAtItsEndAllTheWay) {
    EXPECT_TRUE(after({1000, 750}).is_at_end());
    EXPECT_TRUE(after({1000, 750, 400}).is_at_end());
    EXPECT_TRUE(after({1000, 0}).is_at_end());
}

TEST(FallTest, ASmallRiseIsStillTheEnd) {
    EXPECT_TRUE(after({1000, 200, 250}).is_at_end());
    EXPECT_FALSE(after({1000, 200, 251}).is_at_end());
    EXPECT_TRUE(after({1000, 200, 400, 210}).is_at_end()) << "it fell again";
}

TEST(FallTest, ALargeRiseIsANewHeight) {
    EXPECT_FALSE(after({1000, 200, 601}).is_at_end());
    EXPECT_FALSE(after({1000, 200, 601, 500}).is_at_end());
    EXPECT_TRUE(after({1000, 200, 601, 450}).is_at_end());
}

TEST(FallTest, FromNothingToNothing) {
    EXPECT_TRUE(after({1000, 0, 1, 0}).is_at_end());
    EXPECT_FALSE(after({1000, 0, 600, 600}).is_at_end());
}

}  // namespace gr::fall_test
