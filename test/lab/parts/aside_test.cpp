// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the unit tests of lab/parts/memory/aside.hpp.
// Invariant: what is misused dies with the lab's line.
// Must not know: who comes in a signal handler.
#include "parts/memory/aside.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <vector>

namespace gr::lab::aside_test {

TEST(Aside, OwnsNothingBeforeItsFirstBlock) {
    const Aside aside;
    const int here = 0;
    EXPECT_FALSE(aside.owns(&here));
    EXPECT_FALSE(aside.owns(nullptr));
}

TEST(Aside, BlocksAreAlignedWritableAndItsOwn) {
    Aside aside;
    std::set<void *> seen;
    for (std::size_t size = 0; size <= 3 * kMiB; size = size * 2 + 7) {
        for (std::size_t alignment = kAlignment; alignment <= 64 * kKiB; alignment *= 4) {
            void *const p = aside.allocate(size, alignment);
            ASSERT_NE(p, nullptr);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % alignment, 0U);
            EXPECT_TRUE(aside.owns(p));
            EXPECT_TRUE(seen.insert(p).second);
            ASSERT_GE(aside.usable_size(p), size);
            std::memset(p, 0x5a, aside.usable_size(p));
        }
    }
    for (void *const p : seen) aside.free(p);
}

TEST(Aside, WhatWasFreedComesAgain) {
    Aside aside;
    void *const first = aside.allocate(100, kAlignment);
    aside.free(first);
    EXPECT_EQ(aside.allocate(100, kAlignment), first);
}

TEST(Aside, ALargeBlockIsZeroBehindItsBeginWhenItComesAgain) {
    Aside aside;
    constexpr std::size_t kSize = 10 * kMiB;
    char *const p = static_cast<char *>(aside.allocate(kSize, kAlignment));
    std::memset(p, 1, kSize);
    aside.free(p);
    ASSERT_EQ(aside.allocate(kSize, kAlignment), p);
    EXPECT_EQ(p[kSize - 1], 0) << "its pages were not given back";
}

TEST(Aside, WhatNobodyHasIsRefused) {
    Aside aside;
    EXPECT_EQ(aside.allocate(SIZE_MAX, kAlignment), nullptr);
    EXPECT_EQ(aside.allocate(kGiB, kAlignment), nullptr);
    EXPECT_EQ(aside.allocate(1, std::size_t{1} << 60), nullptr);
}

TEST(AsideDeath, NoBlock) {
    Aside aside;
    char *const p = static_cast<char *>(aside.allocate(100, kAlignment));
    EXPECT_DEATH(aside.free(p + 16), "granary: lab: free.*not a block in use");
    EXPECT_DEATH(aside.free(p + 1), "granary: lab: free.*not a block in use");
    aside.free(p);
    EXPECT_DEATH(aside.free(p), "granary: lab: free.*not a block in use");
}

}  // namespace gr::lab::aside_test
