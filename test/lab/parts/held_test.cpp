// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the unit tests of Held in lab/parts/memory/wilderness.hpp: what is counted as taken of the kernel, and when.
// Invariant: only differences are looked at, for the count is one for all.
// Must not know: any allocator.
#include "parts/memory/wilderness.hpp"

#include <gtest/gtest.h>

#include "parts/layout/container_sizes.hpp"

namespace gr::lab::held_test {

TEST(Held, CountsWhatIsHandedOutNotWhatIsAskedOfTheKernel) {
    Wilderness wilderness;
    const std::size_t before = Held::bytes();
    ASSERT_NE(wilderness.extend(1, Wilderness::kPage), nullptr);
    EXPECT_EQ(Held::bytes() - before, Wilderness::kPage);
    ASSERT_NE(wilderness.extend(3 * Wilderness::kPage, Wilderness::kPage), nullptr);
    EXPECT_EQ(Held::bytes() - before, 4 * Wilderness::kPage);
}

TEST(Held, ALargeBlockCountsAsLongAsItIsMapped) {
    using Large = FixedContainers<64 * kKiB>::LargeBlocks;
    const std::size_t before = Held::bytes();
    void *const p = Large::allocate(kMiB, kAlignment);
    ASSERT_NE(p, nullptr);
    EXPECT_GE(Held::bytes() - before, kMiB);
    EXPECT_LT(Held::bytes() - before, kMiB + 64 * kKiB);
    Large::free(reinterpret_cast<Container *>(static_cast<char *>(p) - sizeof(Container)));
    EXPECT_EQ(Held::bytes(), before);
}

TEST(Held, WhatTheKernelRefusesDoesNotCount) {
    Wilderness wilderness;
    const std::size_t before = Held::bytes();
    EXPECT_EQ(wilderness.extend(std::size_t{1} << 50, Wilderness::kPage), nullptr);
    EXPECT_EQ(Held::bytes(), before);
}

}  // namespace gr::lab::held_test
