// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: stacks by number, one and as many as there may be.
// Invariant: no address in them is looked at.
// Must not know: what unwinds a stack.
#include "profile/stacks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace gr::stacks_test {

TEST(Stacks, OneStackHasOneNumberAndIsFoundByIt) {
    Stacks stacks;
    ASSERT_TRUE(stacks.initialise());
    constexpr std::array<std::uintptr_t, 3> kCalls{0x1000, 0x2000, 0x3000};
    const StackNumber number = stacks.number_of(kCalls);
    EXPECT_NE(number, 0U);
    EXPECT_EQ(stacks.number_of(kCalls), number);
    EXPECT_TRUE(std::ranges::equal(stacks.calls(number), kCalls));
    EXPECT_NE(stacks.number_of(std::span(kCalls).first(2)), number);
    EXPECT_EQ(stacks.number_of({}), 0U);
}

TEST(Stacks, ARetiredStackKeepsItsNumberAndIsNotFoundAgain) {
    Stacks stacks;
    ASSERT_TRUE(stacks.initialise());
    constexpr std::array<std::uintptr_t, 2> kUnloaded{0x1000, 0x2010};
    constexpr std::array<std::uintptr_t, 2> kOther{0x1000, 0x3010};
    const StackNumber old = stacks.number_of(kUnloaded);
    const StackNumber other = stacks.number_of(kOther);
    EXPECT_EQ(stacks.retire(0x2010, 0x3000), 0U);  // a call that goes on at the begin is one of the code before
    EXPECT_EQ(stacks.number_of(kUnloaded), old);
    EXPECT_EQ(stacks.retire(0x2000, 0x3000), 2U);
    EXPECT_EQ(stacks.retire(0x2000, 0x3000), 0U);
    const StackNumber now = stacks.number_of(kUnloaded);
    EXPECT_NE(now, old);
    EXPECT_EQ(stacks.number_of(kUnloaded), now);
    EXPECT_EQ(stacks.number_of(kOther), other);
    EXPECT_EQ(stacks.ordinal(old), 1U);
    EXPECT_EQ(stacks.ordinal(now), 3U);
    EXPECT_TRUE(std::ranges::equal(stacks.calls(old), kUnloaded));
}

TEST(Stacks, WhereThereIsNoRoomTheSearchStillEnds) {
    Stacks stacks;
    ASSERT_TRUE(stacks.initialise());
    const auto number_of = [&](std::uintptr_t call) { return stacks.number_of({&call, 1}); };
    for (std::uintptr_t call = 1; call <= Stacks::kMostStacks; ++call) ASSERT_NE(number_of(call), 0U) << call;
    EXPECT_EQ(number_of(Stacks::kMostStacks + 1), 0U);
    const StackNumber first = number_of(1);
    ASSERT_NE(first, 0U);
    EXPECT_EQ(stacks.calls(first).front(), 1U);
}

}  // namespace gr::stacks_test
