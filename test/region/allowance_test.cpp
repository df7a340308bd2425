// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how much may stay resident, what taking again earns, and what time takes away.
// Invariant: no kernel and no clock: numbers only.
// Must not know: what the memory was.
#include "region/allowance.hpp"

#include <gtest/gtest.h>

namespace gr::allowance_test {

constexpr std::size_t kInUse = kAllowanceParts * kMiB;
constexpr std::size_t kLeast = kMiB / 2;
constexpr std::uint64_t kStart = 1'000'000'000;
// What a review takes away.
constexpr std::size_t kLostAtOnce = kReviewNanoseconds / (kRetakeNanosecondsPerKiB * kRetakeTimeParts) * kKiB;

class AllowanceTest : public testing::Test {
  protected:
    AllowanceTest() { allowance_.initialise(kLeast, SIZE_MAX); }
    std::size_t units() const { return allowance_.unit_bytes(kInUse, kInUse); }

    Allowance allowance_;
};

TEST_F(AllowanceTest, IsAShareOrTheLeast) {
    EXPECT_EQ(allowance_.unit_bytes(0, 0), kLeast);
    EXPECT_EQ(allowance_.unit_bytes(kInUse, kInUse), kMiB);
    EXPECT_EQ(allowance_.unit_bytes(10 * kInUse, 0), 10 * kMiB);
    EXPECT_EQ(allowance_.page_bytes(0), kLeast);
    EXPECT_EQ(allowance_.page_bytes(10 * kInUse), 10 * kMiB);
}

TEST_F(AllowanceTest, WhatIsTakenAgainIsEarned) {
    allowance_.note_in_use(kGiB);
    allowance_.retook(3 * kMiB, 0);
    allowance_.retook(4 * kMiB, 0);
    EXPECT_EQ(allowance_.earned(), 7 * kMiB);
    EXPECT_EQ(units(), 8 * kMiB);
    EXPECT_EQ(allowance_.page_bytes(kInUse), 8 * kMiB);
}

TEST_F(AllowanceTest, WhatWasAwayForLongerEarnsNothing) {
    allowance_.note_in_use(kGiB);
    allowance_.retook(3 * kMiB, kReuseNanoseconds);
    allowance_.retook(4 * kMiB, kReuseNanoseconds + 1);
    EXPECT_EQ(allowance_.earned(), 3 * kMiB);
}

// Units go up and down by so much; what never moves is of no use.
TEST_F(AllowanceTest, AWindowLeavesWhatWentUpAndDownWithinIt) {
    constexpr std::size_t kBottom = 3 * kMiB;
    allowance_.retook(kGiB, 0);
    allowance_.pass(kStart);
    std::uint64_t now = kStart;
    const auto window = [&](std::size_t units, std::size_t pages) {
        for (const bool high : {true, false}) {
            allowance_.note_units(kBottom + (high ? units : 0));
            allowance_.note_pages(kBottom + (high ? pages : 0));
        }
        allowance_.pass(now += kReuseWindowNanoseconds);
    };
    window(kGiB, 0);
    EXPECT_GT(allowance_.earned(), kGiB / 2) << "what was noted before the window counts for it";
    window(8 * kMiB, 4 * kMiB);
    EXPECT_EQ(allowance_.earned(), 12 * kMiB);
    allowance_.retook(kGiB, 0);
    window(0, 0);
    EXPECT_EQ(allowance_.earned(), 0U);
    EXPECT_EQ(allowance_.earned_since(), 0U);
}

// What was taken and freed again since the last request may be a part of what goes on; without a request it stays.
TEST_F(AllowanceTest, ARequestForMemoryLeavesWhatWentUpAndDownSinceTheLastOne) {
    allowance_.retook(kGiB, 0);
    allowance_.pass(kStart);
    allowance_.note_units(0);
    allowance_.note_units(8 * kMiB);
    allowance_.end_window_early(kStart + kReuseNanoseconds);
    EXPECT_EQ(allowance_.earned(), kGiB) << "what was freed so lately may be taken again soon";
    allowance_.end_window_early(kStart + kReuseNanoseconds + 1);
    EXPECT_EQ(allowance_.earned(), 8 * kMiB);
    allowance_.end_window_early(kStart + 2 * (kReuseNanoseconds + 1));
    EXPECT_EQ(allowance_.earned(), 0U);
    EXPECT_EQ(allowance_.earned_since(), 0U);
}

// A peak that fragments needs some more than itself.
TEST_F(AllowanceTest, UnitsStayWithinThePeakOfWhatWasInUse) {
    allowance_.note_in_use(kInUse);
    allowance_.note_in_use(kMiB);
    allowance_.retook(kGiB, 0);
    constexpr std::size_t kMost = kInUse + kInUse / kPeakSlackParts;
    EXPECT_EQ(allowance_.unit_bytes(kMiB, kMiB), kMost - kMiB);
    EXPECT_EQ(units(), kInUse / kPeakSlackParts);
    EXPECT_EQ(allowance_.unit_bytes(kInUse, kMost), kMiB) << "what may stay without regret may always";
    EXPECT_EQ(allowance_.unit_bytes(kInUse, 2 * kMost), kMiB);
    EXPECT_EQ(allowance_.page_bytes(kInUse), kGiB + kMiB) << "pages are in units that are used";
}

TEST_F(AllowanceTest, TimeTakesAwayInProportion) {
    allowance_.retook(kGiB, 0);
    EXPECT_FALSE(allowance_.pass(kStart)) << "before it nothing was there";
    EXPECT_EQ(allowance_.earned(), kGiB);
    EXPECT_FALSE(allowance_.pass(kStart + kReviewNanoseconds - 1));
    EXPECT_EQ(allowance_.earned(), kGiB);
    EXPECT_TRUE(allowance_.pass(kStart + kReviewNanoseconds));
    EXPECT_EQ(allowance_.earned(), kGiB - kLostAtOnce);
    EXPECT_TRUE(allowance_.pass(kStart + 11 * kReviewNanoseconds));
    EXPECT_NEAR(static_cast<double>(allowance_.earned()), static_cast<double>(kGiB - 11 * kLostAtOnce), 11 * kKiB);
    EXPECT_EQ(allowance_.earned_since(), kStart);
}

// To take again what goes in some time costs one part of that time.
TEST_F(AllowanceTest, WhatGoesBackCostsAPartOfTheTime) {
    constexpr std::uint64_t kSecond = 1'000'000'000;
    allowance_.retook(kGiB, 0);
    allowance_.pass(kStart);
    ASSERT_TRUE(allowance_.pass(kStart + kSecond));
    const std::size_t lost = kGiB - allowance_.earned();
    const std::uint64_t cost = lost / kKiB * kRetakeNanosecondsPerKiB;
    EXPECT_LE(cost, kSecond / kRetakeTimeParts);
    EXPECT_GE(cost, kSecond / kRetakeTimeParts / 2);
}

TEST_F(AllowanceTest, AllIsLostInTheEndAndWhatIsEarnedThenIsNew) {
    allowance_.retook(kLostAtOnce / 2, 0);
    allowance_.pass(kStart);
    EXPECT_TRUE(allowance_.pass(kStart + kReviewNanoseconds));
    EXPECT_EQ(allowance_.earned(), 0U);
    EXPECT_EQ(allowance_.earned_since(), 0U);
    EXPECT_EQ(units(), kMiB);
    allowance_.retook(kGiB, 0);
    EXPECT_FALSE(allowance_.pass(kStart + 100 * kReviewNanoseconds)) << "time without anything earned takes nothing";
    EXPECT_EQ(allowance_.earned(), kGiB);
    EXPECT_EQ(allowance_.earned_since(), kStart + 100 * kReviewNanoseconds);
}

TEST_F(AllowanceTest, AnOptionBoundsWhatIsEarned) {
    Allowance bounded;
    bounded.initialise(kLeast, 3 * kMiB);
    bounded.note_in_use(kGiB);
    for (int i = 0; i < 3; ++i) bounded.retook(2 * kMiB, 0);
    EXPECT_EQ(bounded.earned(), 3 * kMiB);
    Allowance none;
    none.initialise(kLeast, 0);
    none.note_in_use(kGiB);
    none.retook(kMiB, 0);
    EXPECT_EQ(none.unit_bytes(kInUse, kInUse), kMiB);
    EXPECT_EQ(none.page_bytes(kInUse), kMiB);
}

TEST_F(AllowanceTest, ABoundThatIsLoweredTakesWhatWasEarnedBeyond) {
    allowance_.note_in_use(kGiB);
    allowance_.retook(8 * kMiB, 0);
    allowance_.change(2 * kMiB, 3 * kMiB);
    EXPECT_EQ(allowance_.earned(), 3 * kMiB);
    EXPECT_EQ(allowance_.page_bytes(0), 5 * kMiB);
    allowance_.retook(8 * kMiB, 0);
    EXPECT_EQ(allowance_.earned(), 3 * kMiB);
    allowance_.change(0, SIZE_MAX);
    EXPECT_EQ(allowance_.earned(), 0U) << "who wants nothing to stay earns nothing";
    allowance_.change(kLeast, SIZE_MAX);
    allowance_.retook(8 * kMiB, 0);
    EXPECT_EQ(allowance_.earned(), 8 * kMiB);
}

TEST_F(AllowanceTest, WhoWantsNothingToStayEarnsNothing) {
    Allowance allowance;
    allowance.initialise(0, SIZE_MAX);
    allowance.note_in_use(kGiB);
    allowance.retook(kMiB, 0);
    EXPECT_EQ(allowance.unit_bytes(0, 0), 0U);
    EXPECT_EQ(allowance.page_bytes(0), 0U);
}

TEST_F(AllowanceTest, TheLeastMayBeAllThereIs) {
    Allowance allowance;
    allowance.initialise(SIZE_MAX, SIZE_MAX);
    allowance.note_in_use(kGiB);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(allowance.unit_bytes(0, 0), SIZE_MAX);
        EXPECT_EQ(allowance.page_bytes(kInUse), SIZE_MAX);
        allowance.retook(SIZE_MAX / 2 + kMiB, 0);
    }
    EXPECT_EQ(allowance.earned(), SIZE_MAX);
}

}  // namespace gr::allowance_test
