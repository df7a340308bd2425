// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which blocks Boehm's free lists of threads (002, Parallel allocation) put into a cache line of two threads.
// Invariant: told by addresses, never by time.
// Must not know: how an allocator comes to its addresses.
#include "allocators/boehm.hpp"

#include "lab/claims/sharing.hpp"

namespace gr::lab::boehm_sharing_test {

using AtOnce = HeapsAndLarge<ListsOfThreads<ThreadPointer, Frees::to_local_list, 0>>;

// What the threshold costs: until then two threads take the objects of the same page by turns.
TEST(BoehmSharing, OnlyBeforeTheThresholdAreLinesSharedActively) {
    const std::size_t with = actively_shared<Chosen>();
    const std::size_t without = actively_shared<AtOnce>();
    std::printf("lines with blocks of both: %zu with the threshold, %zu without\n", with, without);
    EXPECT_GT(with, 0U);
    EXPECT_LE(with, 2 * kHeapPageBytes / kCacheLineBytes);
    EXPECT_EQ(without, 0U);
}

// Objects have no owner.
TEST(BoehmSharing, WhatIsFreedElsewhereIsSharedPassively) { EXPECT_GT(passively_shared<Chosen>(), kBlocks / 8); }

}  // namespace gr::lab::boehm_sharing_test
