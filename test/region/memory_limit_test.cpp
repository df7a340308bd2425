// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what may be held up to the hard limit, and how often the soft one is news.
// Invariant: held() is the sum of what was granted and not given back.
// Must not know: whose memory is counted.
#include "region/memory_limit.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace gr::memory_limit_test {

TEST(MemoryLimit, NoneRefusesNothingAndCounts) {
    MemoryLimit limit;
    EXPECT_FALSE(limit.has_hard());
    EXPECT_TRUE(limit.may_take(kTiB));
    limit.took(1);
    EXPECT_EQ(limit.held(), kTiB + 1);
    EXPECT_FALSE(limit.is_above_soft());
    EXPECT_FALSE(limit.has_news());
    limit.gave(kTiB);
    EXPECT_EQ(limit.held(), 1U);
}

TEST(MemoryLimit, TheHardOneIsReachedAndNeverPassed) {
    MemoryLimit limit;
    limit.initialise(MemoryLimit::kNone, 1000);
    EXPECT_TRUE(limit.may_take(999));
    EXPECT_FALSE(limit.may_take(2));
    EXPECT_EQ(limit.held(), 999U);
    EXPECT_TRUE(limit.may_take(1));
    EXPECT_FALSE(limit.may_take(1));
    EXPECT_FALSE(limit.may_take(SIZE_MAX));
    limit.took(10);
    EXPECT_FALSE(limit.may_take(0)) << "above it already";
    limit.gave(11);
    EXPECT_TRUE(limit.may_take(1));
}

TEST(MemoryLimit, TheSoftOneIsNewsOnceUntilItIsWellBelow) {
    MemoryLimit limit;
    limit.initialise(1600, MemoryLimit::kNone);
    EXPECT_TRUE(limit.may_take(1600));
    EXPECT_FALSE(limit.has_news());
    EXPECT_TRUE(limit.may_take(1));
    EXPECT_TRUE(limit.is_above_soft());
    EXPECT_TRUE(limit.take_news());
    EXPECT_FALSE(limit.take_news());
    limit.took(1);
    limit.gave(100);
    EXPECT_FALSE(limit.is_above_soft());
    limit.took(100);
    EXPECT_FALSE(limit.has_news()) << "told again, though it hardly fell";
    limit.gave(102);
    limit.took(102);
    EXPECT_TRUE(limit.take_news());
}

TEST(MemoryLimit, AChangeHoldsAtOnceAndTakesNothingAway) {
    MemoryLimit limit;
    limit.change(MemoryLimit::kNone, 1000);
    EXPECT_TRUE(limit.may_take(900));
    limit.change(MemoryLimit::kNone, 500);
    EXPECT_TRUE(limit.is_above_hard());
    EXPECT_EQ(limit.held(), 900U);
    EXPECT_FALSE(limit.may_take(1));
    limit.gave(401);
    EXPECT_TRUE(limit.may_take(1));
    EXPECT_FALSE(limit.may_take(1));
    EXPECT_FALSE(limit.is_above_hard());
    limit.change(MemoryLimit::kNone, MemoryLimit::kNone);
    EXPECT_FALSE(limit.has_hard());
    EXPECT_TRUE(limit.may_take(kTiB));
}

TEST(MemoryLimit, ASoftLimitThatChangesIsNewsWhereMoreIsHeld) {
    MemoryLimit limit;
    limit.took(1600);
    limit.change(1600, MemoryLimit::kNone);
    EXPECT_FALSE(limit.has_news());
    limit.change(1000, MemoryLimit::kNone);
    EXPECT_TRUE(limit.is_above_soft());
    EXPECT_TRUE(limit.take_news());
    limit.took(1);
    EXPECT_FALSE(limit.has_news());
    // What was crossed before does not hide the crossing of the new one.
    limit.change(1700, MemoryLimit::kNone);
    EXPECT_FALSE(limit.has_news());
    limit.took(100);
    EXPECT_TRUE(limit.has_news());
    limit.change(MemoryLimit::kNone, MemoryLimit::kNone);
    EXPECT_FALSE(limit.has_news()) << "nobody is told of a limit that is gone";
}

TEST(MemoryLimit, ThreadsTogetherGetNoMore) {
    MemoryLimit limit;
    limit.initialise(MemoryLimit::kNone, 10000);
    std::vector<std::size_t> granted(4);
    std::vector<std::thread> threads;
    for (std::size_t &mine : granted)
        threads.emplace_back([&limit, &mine] {
            while (limit.may_take(3)) mine += 3;
        });
    for (std::thread &thread : threads) thread.join();
    std::size_t sum = 0;
    for (const std::size_t mine : granted) sum += mine;
    EXPECT_EQ(sum, 9999U);
    EXPECT_EQ(limit.held(), 9999U);
}

}  // namespace gr::memory_limit_test
