// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: tests of collector/pace.hpp.
// Invariant: what is asserted is what docs/design/collector.md says of the pace; sizes are far above the least ones,
//    except where those are tested.
// Must not know: a heap.
#include "collector/pace.hpp"

#include <gtest/gtest.h>

namespace gr::pace_test {

constexpr std::size_t kLive = 1024 * kMiB;

std::size_t growth_after(const Found &found, std::size_t divisor = 1) {
    Pace pace;
    pace.set_divisor(divisor);
    pace.learn(found);
    EXPECT_FALSE(pace.is_due(pace.due_at() - 1));
    EXPECT_TRUE(pace.is_due(pace.due_at()));
    return pace.due_at() - found.held;
}

TEST(Pace, WhatIsScannedWeighsMoreThanWhatIsOnlyMarked) {
    EXPECT_EQ(growth_after({.live_with_pointers = kLive, .held = kLive}), 2 * kLive);
    EXPECT_EQ(growth_after({.live_without = kLive, .held = kLive}), kLive / 4);
    EXPECT_EQ(growth_after({.roots = kLive}), kLive);
}

TEST(Pace, TheDivisorDividesTheGrowth) {
    EXPECT_EQ(growth_after({.live_with_pointers = kLive, .held = kLive}, 4), kLive / 2);
    EXPECT_EQ(growth_after({.live_with_pointers = kLive, .held = kLive}, 0), 2 * kLive);
}

TEST(Pace, WhatIsFreeInUnitsThatAreHeldServesFirst) {
    EXPECT_EQ(growth_after({.live_with_pointers = kLive, .held = 2 * kLive}), kLive);
    // Nothing but what is free: a part of what was wanted remains.
    const std::size_t remains = growth_after({.live_with_pointers = kLive, .held = 100 * kLive});
    EXPECT_GT(remains, 0U);
    EXPECT_LT(remains, kLive);
}

constexpr std::size_t kUsual = Circumstances::kUsualDivisor;

TEST(Pace, WhatIsLittleMayGrowToSeveralTimesWhatLives) {
    const std::size_t least = growth_after({.live_with_pointers = kMiB, .held = kMiB}, kUsual);
    const std::size_t more = growth_after({.live_with_pointers = 8 * kMiB, .held = 8 * kMiB}, kUsual);
    EXPECT_GT(least, 4 * kMiB);
    EXPECT_GT(more, least);
    EXPECT_EQ(growth_after({.live_with_pointers = 16 * kMiB, .held = 16 * kMiB}, kUsual), more);
}

TEST(Pace, TheDivisorDividesTheGrowthOfASmallHeap) {
    const Found small{.live_with_pointers = kMiB, .held = kMiB};
    EXPECT_EQ(growth_after(small, 1), 3 * growth_after(small, 3));
    EXPECT_EQ(growth_after(small, 12), growth_after(small, 3) / 4);
}

TEST(Pace, TheLeastGrowthThatTheProgramWants) {
    Pace pace;
    pace.set_least_growth(kLive);
    pace.learn({.live_with_pointers = kMiB, .held = kMiB});
    EXPECT_EQ(pace.due_at(), kMiB + kLive);
}

TEST(Pace, UpToWhatWasAllowedBeforeItMayGrowAgain) {
    Pace pace;
    pace.set_divisor(1);
    pace.learn({.live_with_pointers = kLive, .held = kLive});
    EXPECT_EQ(pace.due_at(), 3 * kLive);
    for (int i = 0; i < 2; ++i) {
        pace.learn({.live_with_pointers = kLive / 2, .held = kLive});
        EXPECT_EQ(pace.due_at(), 3 * kLive);
        EXPECT_EQ(pace.room(), 2 * kLive);
    }
    // But not to all of it at once.
    pace.learn({.live_with_pointers = kLive / 8, .held = kLive / 8});
    EXPECT_EQ(pace.due_at(), kLive / 8 + 4 * (kLive / 8));
}

TEST(Pace, EachThreadThatWasStoppedLetsASmallHeapGrowFurther) {
    const std::size_t alone = growth_after({.live_with_pointers = kMiB, .held = kMiB});
    const std::size_t among_ten = growth_after({.live_with_pointers = kMiB, .threads = 10, .held = kMiB});
    const std::size_t among_twenty = growth_after({.live_with_pointers = kMiB, .threads = 20, .held = kMiB});
    EXPECT_GT(alone, kMiB);
    EXPECT_GT(among_ten, alone);
    EXPECT_EQ(among_twenty - among_ten, among_ten - alone);
    EXPECT_EQ(growth_after({.live_with_pointers = kLive, .threads = 20, .held = kLive}), 2 * kLive);
}

TEST(Pace, TheSizeThatTheProgramSetHoldsForEachCollection) {
    Pace pace;
    pace.set_size(kLive);
    EXPECT_EQ(pace.due_at(), kLive);
    for (int i = 0; i < 2; ++i) {
        pace.learn({.live_with_pointers = kMiB, .held = kMiB});
        EXPECT_EQ(pace.due_at(), kLive);
        EXPECT_EQ(pace.room(), kLive - kMiB);
    }
    pace.learn({.live_with_pointers = kLive, .held = kLive});
    EXPECT_GT(pace.due_at(), kLive);
}

// Nothing of what is free has the sizes that are wanted: the heap grows by all that is allocated.
TEST(Pace, ACollectionIsDueOnlyWhenMuchOfThePlannedGrowthWasAllocated) {
    Pace pace;
    pace.set_divisor(1);
    pace.learn({.live_with_pointers = kLive, .held = 8 * kLive});
    const std::size_t allocated = pace.due_at() - 8 * kLive;
    EXPECT_LT(allocated, kLive);
    EXPECT_FALSE(pace.is_reconsidered());
    pace.reconsider(pace.due_at(), allocated, 0);
    EXPECT_TRUE(pace.is_reconsidered());
    EXPECT_GT(pace.due_at(), 8 * kLive + kLive);
    EXPECT_LE(pace.due_at(), 8 * kLive + 2 * kLive);
    EXPECT_EQ(pace.room(), pace.due_at() - 8 * kLive);
    pace.learn({.live_with_pointers = kLive, .held = 8 * kLive});
    EXPECT_FALSE(pace.is_reconsidered());
}

TEST(Pace, WhereThePlannedGrowthWasAllocatedNothingIsPutOff) {
    Pace pace;
    pace.set_divisor(1);
    pace.learn({.live_with_pointers = kLive, .held = kLive});
    pace.reconsider(3 * kLive, 2 * kLive, 0);
    EXPECT_EQ(pace.due_at(), 3 * kLive);
}

// What the last blocks of many superblocks leave is not worth a larger heap.
TEST(Pace, ALittleThatWasNotAllocatedPutsNothingOff) {
    Pace pace;
    pace.set_divisor(1);
    pace.learn({.live_with_pointers = kLive, .held = kLive});
    pace.reconsider(3 * kLive, 2 * kLive - kLive / 8, 0);
    EXPECT_EQ(pace.due_at(), 3 * kLive);
}

TEST(Pace, NearTheControlGroupsLimitTheHeapGrowsLessButAlwaysGrows) {
    Pace pace;
    pace.learn({.live_with_pointers = kLive, .held = kLive, .limit = kLive + kLive / 4});
    EXPECT_EQ(pace.due_at(), kLive + kLive / 4);
    pace.learn({.live_with_pointers = kLive, .held = kLive, .limit = kLive / 2});
    EXPECT_GT(pace.due_at(), kLive + kLive / 16);
    EXPECT_LT(pace.due_at(), kLive + kLive / 8);
    // What was allocated meanwhile is asked of the smaller growth, too.
    pace.reconsider(pace.due_at(), 0, 0);
    EXPECT_LT(pace.due_at(), kLive + kLive / 4);
    // Nor does the size that the program set count for more.
    pace.set_size(100 * kLive);
    pace.learn({.live_with_pointers = kLive, .held = kLive, .limit = 2 * kLive});
    EXPECT_EQ(pace.due_at(), 2 * kLive);
    pace.set_size(200 * kLive);
    EXPECT_EQ(pace.due_at(), 2 * kLive);
}

TEST(Pace, TriesThatFailBecomeRarerAsTheHeapGrows) {
    Pace pace;
    unsigned tries = 0;
    for (std::size_t held = 0; held < 100 * kGiB; held += kMiB) {
        if (!pace.is_due(held)) continue;
        ++tries;
        pace.put_off_failed(held);
        EXPECT_FALSE(pace.is_due(held));
    }
    EXPECT_LT(tries, 64U);
}

// How much before it is due a collection beside the program begins.
std::size_t earliness_after(std::size_t growth) {
    Pace pace;
    pace.set_divisor(1);
    pace.learn({.live_with_pointers = kLive, .held = kLive});
    pace.learn_growth_beside(growth);
    std::size_t early = 0;
    while (pace.is_due_beside(pace.due_at() - early - kMiB)) early += kMiB;
    EXPECT_FALSE(pace.is_late_beside(pace.due_at()));
    EXPECT_TRUE(pace.is_late_beside(pace.due_at() + 2 * kLive));
    return early;
}

TEST(Pace, BesideTheProgramACollectionBeginsSoEarlyThatItEndsWhenItIsDue) {
    const std::size_t least = earliness_after(0);
    EXPECT_GT(least, 0U);
    EXPECT_EQ(earliness_after(kLive / 2), kLive / 2 + least);
    // Some of the growth is always waited for.
    const std::size_t most = earliness_after(100 * kLive);
    EXPECT_LT(most, 2 * kLive);
    EXPECT_GT(most, kLive);
}

TEST(Pace, BesideTheProgramACollectionIsPutOffToo) {
    Pace pace;
    pace.set_divisor(1);
    pace.learn({.live_with_pointers = kLive, .held = 8 * kLive});
    std::size_t held = 8 * kLive;
    while (!pace.is_due_beside(held)) held += kMiB;
    EXPECT_LT(held - 8 * kLive, kLive / 4);
    pace.reconsider(held, held - 8 * kLive, 0);
    EXPECT_FALSE(pace.is_due_beside(held + kLive));
    EXPECT_TRUE(pace.is_due_beside(held + 2 * kLive));
}

// What it makes beyond that is the peak.
TEST(Pace, WhoOutrunsACollectionBesideWaitsBeforeAQuarterOfTheGrowthIsTakenOnceMore) {
    Pace pace;
    pace.learn({.live_with_pointers = kLive, .held = kLive});
    EXPECT_FALSE(pace.is_late_beside(pace.due_at() + pace.room() / 16));
    EXPECT_TRUE(pace.is_late_beside(pace.due_at() + pace.room() / 4));
}

}  // namespace gr::pace_test
