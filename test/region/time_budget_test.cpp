// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: one part of the time, and what may be saved up of it.
// Invariant: numbers only, no clock.
// Must not know: what the time is spent on.
#include "region/time_budget.hpp"

#include <gtest/gtest.h>

namespace gr::time_budget_test {

constexpr std::uint64_t kParts = 10;
constexpr std::uint64_t kSaved = 1000;
constexpr std::uint64_t kStart = 1'000'000;

TEST(TimeBudgetTest, AtFirstAllIsSaved) {
    TimeBudget<kParts, kSaved> budget;
    EXPECT_TRUE(budget.may_begin(kStart));
    budget.spend(kStart, kSaved / kParts);
    EXPECT_TRUE(budget.may_begin(kStart));
    budget.spend(kStart, 1);
    EXPECT_FALSE(budget.may_begin(kStart + kParts - 1));
    EXPECT_TRUE(budget.may_begin(kStart + kParts));
}

TEST(TimeBudgetTest, WhatWasSavedIsSpentFirst) {
    TimeBudget<kParts, kSaved> budget;
    ASSERT_TRUE(budget.may_begin(kStart - kSaved));
    budget.spend(kStart, kSaved / kParts);
    EXPECT_TRUE(budget.may_begin(kStart));
    budget.spend(kStart, 1);
    EXPECT_FALSE(budget.may_begin(kStart + kParts - 1));
    EXPECT_TRUE(budget.may_begin(kStart + kParts));
}

TEST(TimeBudgetTest, NoMoreIsSavedThanMayBe) {
    TimeBudget<kParts, kSaved> budget;
    ASSERT_TRUE(budget.may_begin(kStart));
    budget.spend(2 * kStart, kSaved / kParts + 7);
    EXPECT_FALSE(budget.may_begin(2 * kStart + 7 * kParts - 1));
    EXPECT_TRUE(budget.may_begin(2 * kStart + 7 * kParts));
}

TEST(TimeBudgetTest, TheClockMayBeYoung) {
    TimeBudget<kParts, kSaved> budget;
    ASSERT_TRUE(budget.may_begin(5));
    budget.spend(5, 3);
    EXPECT_FALSE(budget.may_begin(29));
    EXPECT_TRUE(budget.may_begin(30));
}

TEST(TimeBudgetTest, LongWorkIsOnePartOfTheTime) {
    TimeBudget<kParts, kSaved> budget;
    std::uint64_t now = kStart;
    std::uint64_t worked = 0;
    for (; now < 2 * kStart; now += 100) {
        if (!budget.may_begin(now)) continue;
        budget.spend(now, 100);
        worked += 100;
    }
    EXPECT_LE(worked, (kStart + kSaved) / kParts + 100);
    EXPECT_GE(worked, kStart / kParts - 100);
}

}  // namespace gr::time_budget_test
