// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which entries of RecentUnits are remembered, and in which order they come back.
// Invariant: numbers only.
// Must not know: what lies in the units.
#include "region/recent_units.hpp"

#include <gtest/gtest.h>

namespace gr::recent_units_test {

TEST(RecentUnitsTest, TheLatestComesFirst) {
    RecentUnits recent{};
    UnitIndex u;
    EXPECT_FALSE(recent.take_latest(&u));
    recent.note(UnitIndex(7));
    recent.note(UnitIndex(3));
    ASSERT_TRUE(recent.take_latest(&u));
    EXPECT_EQ(u, UnitIndex(3));
    ASSERT_TRUE(recent.take_latest(&u));
    EXPECT_EQ(u, UnitIndex(7));
    EXPECT_FALSE(recent.take_latest(&u));
}

TEST(RecentUnitsTest, TheOldestIsForgotten) {
    RecentUnits recent{};
    for (std::uint32_t i = 0; i < 3 * kRecentUnits + 1; ++i) recent.note(UnitIndex(i));
    UnitIndex u;
    for (std::uint32_t i = 0; i < kRecentUnits; ++i) {
        ASSERT_TRUE(recent.take_latest(&u));
        EXPECT_EQ(u, UnitIndex(3 * kRecentUnits - i));
    }
    EXPECT_FALSE(recent.take_latest(&u));
}

TEST(RecentUnitsTest, FindsTheLatestThatIsWantedAndKeepsIt) {
    RecentUnits recent{};
    for (const std::uint32_t u : {4U, 6U, 5U}) recent.note(UnitIndex(u));
    const auto even = [](UnitIndex u) { return u.value % 2 == 0; };
    UnitIndex u;
    for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(recent.find(even, &u));
        EXPECT_EQ(u, UnitIndex(6));
    }
    EXPECT_FALSE(recent.find([](UnitIndex) { return false; }, &u));
    ASSERT_TRUE(recent.take_latest(&u));
    EXPECT_EQ(u, UnitIndex(5));
}

}  // namespace gr::recent_units_test
