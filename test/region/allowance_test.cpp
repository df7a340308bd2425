// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how much may stay resident, and what regret changes.
// Invariant: no kernel: numbers only.
// Must not know: what the memory was.
#include "region/allowance.hpp"

#include <gtest/gtest.h>

namespace gr {
namespace {

constexpr std::size_t kInUse = kAllowanceParts * kMiB;
constexpr std::size_t kLeast = kLeastAllowance * kMiB;
constexpr std::size_t kMost = kMostRunAllowance * kMiB;
constexpr std::size_t kMostOfShortRuns = kMostAllowance * kMiB;
constexpr std::size_t kWindow = 10 * kMiB;

// A time more than may stay, when so much of what went had come back since, in long runs.
void give_back(Allowance &allowance, std::size_t retaken, std::size_t bytes) {
    allowance.retook_by_run(retaken);
    allowance.judge(kWindow);
    allowance.gave_back(bytes);
}

TEST(Allowance, IsAShareOrTheLeast) {
    Allowance allowance;
    allowance.initialise(kLeastAllowance * kKiB);
    EXPECT_EQ(allowance.unit_bytes(0), kLeastAllowance * kKiB);
    EXPECT_EQ(allowance.unit_bytes(kInUse), kLeast);
    EXPECT_EQ(allowance.unit_bytes(10 * kInUse), 10 * kLeast);
    EXPECT_EQ(allowance.page_bytes(0), kLeastAllowance * kKiB);
    EXPECT_EQ(allowance.page_bytes(10 * kInUse), 10 * kLeast);
}

TEST(Allowance, RegretWidensItUpToItsMostAndItsAbsenceNarrowsIt) {
    Allowance allowance;
    allowance.initialise(kLeastAllowance * kKiB);
    std::size_t last = kLeast;
    for (int i = 0; i < 20; ++i) {
        give_back(allowance, kMiB, kMiB);
        EXPECT_GE(allowance.unit_bytes(kInUse), last);
        last = allowance.unit_bytes(kInUse);
    }
    EXPECT_EQ(last, kMost);
    EXPECT_EQ(allowance.unit_bytes(0), kMostAllowance * kKiB) << "who has little in use breathes, too";
    EXPECT_EQ(allowance.page_bytes(kInUse), kLeast) << "of pages the share stays";
    EXPECT_EQ(allowance.page_bytes(0), kMostAllowance * kKiB) << "of pages the least widens";
    EXPECT_EQ(allowance.least_bytes(kInUse), kLeast);
    EXPECT_EQ(allowance.least_bytes(0), kLeastAllowance * kKiB);
    for (int i = 0; i < 100; ++i) {
        give_back(allowance, 0, kMiB);
        EXPECT_LE(allowance.unit_bytes(kInUse), last);
        last = allowance.unit_bytes(kInUse);
    }
    EXPECT_EQ(last, kLeast);
}

// What superblocks take again fits anywhere.
TEST(Allowance, RegretWidensItLessWithoutLongRuns) {
    Allowance allowance;
    const auto breathe = [&](std::size_t by_runs, std::size_t by_others) {
        for (int i = 0; i < 100; ++i) {
            allowance.retook_by_run(by_runs);
            allowance.retook(by_others);
            allowance.judge(kWindow);
            allowance.gave_back(by_runs + by_others);
        }
        return allowance.unit_bytes(kInUse);
    };
    EXPECT_EQ(breathe(0, kMiB), kMostOfShortRuns);
    EXPECT_EQ(breathe(kMiB / 4, kMiB), kMostOfShortRuns);
    EXPECT_EQ(breathe(kMiB, kMiB / 4), kMost);
    EXPECT_EQ(breathe(0, kMiB), kMostOfShortRuns) << "and less again";
}

TEST(Allowance, SomeRegretChangesNothing) {
    Allowance allowance;
    for (int i = 0; i < 20; ++i) give_back(allowance, kMiB, kMiB);
    // Between a quarter and a half.
    for (int i = 0; i < 20; ++i) give_back(allowance, 3 * kMiB, 8 * kMiB);
    EXPECT_EQ(allowance.unit_bytes(kInUse), kMost);
}

TEST(Allowance, ABreathLongerThanASingleTimeIsRemembered) {
    Allowance allowance;
    for (int breath = 0; breath < 20; ++breath) {
        for (int i = 0; i < 8; ++i) give_back(allowance, 0, kMiB);
        allowance.retook_by_run(8 * kMiB);
    }
    give_back(allowance, 0, kMiB);
    EXPECT_EQ(allowance.unit_bytes(kInUse), kMost);
}

TEST(Allowance, TheLeastMayBeAllThereIs) {
    Allowance allowance;
    allowance.initialise(SIZE_MAX);
    for (int i = 0; i < 20; ++i) {
        EXPECT_GT(allowance.unit_bytes(0), kTiB);
        give_back(allowance, kMiB, kMiB);
    }
}

TEST(Allowance, RegretIsForgottenByAndBy) {
    Allowance allowance;
    give_back(allowance, 0, kMiB);
    give_back(allowance, 100 * kMiB, kMiB);
    for (int i = 0; i < 200; ++i) give_back(allowance, 0, kMiB);
    EXPECT_EQ(allowance.unit_bytes(kInUse), kLeast);
}

}  // namespace
}  // namespace gr
