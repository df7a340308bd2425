// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: tests of gcmalloc/quarantine_pace.hpp.
// Invariant: what is asserted is what docs/use/leaks.md says of how much may wait.
// Must not know: a heap.
#include "gcmalloc/quarantine_pace.hpp"

#include <gtest/gtest.h>

namespace gr::quarantine_pace_test {

constexpr std::size_t kOwn = 1024 * kMiB;
constexpr std::size_t kMost = kOwn / QuarantinePace::kParts;

// How much waits when a search is worth it, if so much is resident beside what came since the last.
std::size_t waits_until_search(QuarantinePace *pace, std::size_t resident, std::size_t free = 0) {
    std::size_t waiting = 0;
    for (;; waiting += QuarantinePace::kStep / 4) {
        const std::size_t taken = waiting < free ? 0 : waiting - free;
        if (pace->is_due(waiting) && pace->is_worth(resident + taken, waiting)) return waiting;
    }
}

// What is resident is looked at after so much only.
void expect_about(std::size_t bytes, std::size_t wanted) {
    EXPECT_LE(bytes, wanted + 2 * QuarantinePace::kStep);
    EXPECT_LE(wanted, bytes + 2 * QuarantinePace::kStep);
}

TEST(QuarantinePace, APartOfTheProcessesOwnMayWait) {
    QuarantinePace pace;
    pace.learn(0, kOwn, kOwn, 0);
    expect_about(waits_until_search(&pace, kOwn), kMost);
}

TEST(QuarantinePace, ALittleMayWaitInAnyCase) {
    QuarantinePace pace;
    EXPECT_FALSE(pace.is_due(QuarantinePace::kLeast - 1));
    pace.learn(0, kMiB, kMiB, 0);
    expect_about(waits_until_search(&pace, kMiB), QuarantinePace::kLeast);
}

TEST(QuarantinePace, WhatIsFreeInTheHeapIsTakenByWhatWaits) {
    QuarantinePace pace;
    pace.learn(0, kOwn + kMost, kOwn, 0);
    expect_about(waits_until_search(&pace, kOwn + kMost, kMost), kMost);
}

TEST(QuarantinePace, WhereTheProcessWasLargerMoreMayWait) {
    QuarantinePace pace;
    pace.learn(0, kOwn, kOwn, 0);
    pace.learn(0, kOwn / 2, kOwn / 2, 0);
    expect_about(waits_until_search(&pace, kOwn / 2), kOwn / 2 + kMost);
}

TEST(QuarantinePace, ButNotWhenItGrowsAgain) {
    QuarantinePace pace;
    pace.learn(0, kOwn, kOwn, 0);
    pace.learn(0, kOwn / 2, kOwn / 2, 0);
    const std::size_t waiting = kOwn / 2;
    EXPECT_FALSE(pace.is_worth(kOwn / 2 + waiting, waiting));
    EXPECT_TRUE(pace.is_worth(kOwn + waiting, waiting));
}

TEST(QuarantinePace, WhatHasGrownAndDoesNotWaitIsTheProcessesOwn) {
    QuarantinePace pace;
    pace.learn(0, kOwn / 2, kOwn / 2, 0);
    expect_about(waits_until_search(&pace, kOwn), kMost);
}

TEST(QuarantinePace, WhatASearchFoundPointedToIsNotLookedForAtOnce) {
    QuarantinePace pace;
    pace.learn(kOwn / 2, kOwn, kOwn / 2, kOwn / 2);
    EXPECT_FALSE(pace.is_due(kOwn / 2 + QuarantinePace::kLeast - 1));
}

TEST(QuarantinePace, WhatIsFreedWhileASearchEndsCountsTowardTheNext) {
    QuarantinePace pace;
    for (unsigned i = 0; i < 100; ++i) {
        std::size_t waiting = 0;
        while (!pace.is_due(waiting)) waiting += QuarantinePace::kStep / 4;
        expect_about(waiting, QuarantinePace::kLeast);
        pace.learn(0, kMiB + waiting, kMiB, waiting);
    }
}

}  // namespace gr::quarantine_pace_test
