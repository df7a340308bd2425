// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which allocators put blocks of two threads into one cache line: actively, by turns of malloc, and passively, by
//    reusing what another allocated (Hoard 2.1; Wasik 2.3.2, figures 3.5 and 3.7).
// Invariant: told by addresses, never by time.
// Must not know: how an allocator comes to its addresses.
#include "lab/claims/sharing.hpp"

#include <cstdio>

#include "allocators/jemalloc2006.hpp"

namespace gr::lab {

template <>
inline constexpr const char *kNameOf<Chosen> = "jemalloc2006";

}  // namespace gr::lab

namespace gr::lab::sharing_test {

TEST(Sharing, ASingleHeapSharesActively) {
    EXPECT_GT(actively_shared<Single>(), kBlocks / 8);
    EXPECT_GT(actively_shared<ConcurrentSingle>(), kBlocks / 8);
}

// 5.2: new objects come from the global heap's buffer, one by one.
TEST(Sharing, ThreadHeapsWithoutABufferEachShareActively) { EXPECT_GT(actively_shared<Threads>(), kBlocks / 8); }

TEST(Sharing, ContainersAndBuffersOfAHeapDoNotShareActively) {
    EXPECT_EQ(actively_shared<Containers>(), 0U);
    EXPECT_EQ(actively_shared<Owned>(), 0U);
    EXPECT_EQ(actively_shared<Restricted>(), 0U);
    EXPECT_EQ(actively_shared<Varied>(), 0U);
    EXPECT_EQ(actively_shared<Lockfree>(), 0U);
    // A tag is no block: the line in which one thread's buffer ends and the other's begins has no two blocks.
    EXPECT_EQ(actively_shared<Io>(), 0U);
}

TEST(Sharing, WithoutOwnershipWhatIsFreedElsewhereIsSharedPassively) {
    EXPECT_GT(passively_shared<Threads>(), kBlocks / 8);
    EXPECT_GT(passively_shared<Containers>(), kBlocks / 8);
    EXPECT_GT(passively_shared<Private>(), kBlocks / 8);
}

TEST(Sharing, OwnershipEndsPassiveSharing) {
    EXPECT_EQ(passively_shared<Owned>(), 0U);
    EXPECT_EQ(passively_shared<Restricted>(), 0U);
    EXPECT_EQ(passively_shared<Buffered>(), 0U);
    EXPECT_EQ(passively_shared<Remote>(), 0U);
    EXPECT_EQ(passively_shared<Recommended>(), 0U);
    EXPECT_EQ(passively_shared<Varied>(), 0U);
    EXPECT_EQ(passively_shared<Lockfree>(), 0U);
    EXPECT_EQ(passively_shared<Io>(), 0U);
    EXPECT_EQ(passively_shared<IoR>(), 0U);
}

// 3.1.1.1: what is delayed is not shared, unless it may be taken again.
TEST(Sharing, DelayedOwnershipSharesOnlyWithReallocation) {
    EXPECT_EQ(passively_shared<Delayed>(), 0U);
    EXPECT_GT(passively_shared<DelayedReused>(), kBlocks / 8);
    EXPECT_GT(passively_shared<Hoard36>(), kBlocks / 8);
}

TEST(Sharing, OnlyContainersThatMoveInUseShareByMoving) {
    EXPECT_GT(shared_by_moving<Owned>(), 0U);
    EXPECT_GT(shared_by_moving<OwnedRemote>(), 0U);
    EXPECT_EQ(shared_by_moving<Restricted>(), 0U);
    EXPECT_EQ(shared_by_moving<Remote>(), 0U);
    EXPECT_EQ(shared_by_moving<Varied>(), 0U);
    EXPECT_EQ(shared_by_moving<Streamflow>(), 0U);
}

// 3.2.2.3: a region's blocks are all one heap's, and it moves when it is one block.
TEST(Sharing, CoalescingWithOwnershipSharesInNoWay) {
    const auto expect_none = []<class A>(A &) {
        EXPECT_EQ(actively_shared<A>(), 0U);
        EXPECT_EQ(passively_shared<A>(), 0U);
        EXPECT_EQ(shared_by_moving<A>(), 0U);
    };
    expect_none(the_allocator<IoC>);
    expect_none(the_allocator<IoCl>);
    expect_none(the_allocator<IoCr>);
    expect_none(the_allocator<Coalescing>);
    expect_none(the_allocator<CoalescingClearedIntoBuffer>);
}

// 3.2.1.3: the thread that frees a block has it, and splits and takes it again.
TEST(Sharing, CoalescingWithoutOwnershipSharesPassively) {
    EXPECT_GT(passively_shared<InC>(), kBlocks / 8);
    EXPECT_GT(passively_shared<InCl>(), kBlocks / 8);
    EXPECT_GT(passively_shared<InCr>(), kBlocks / 8);
}

// Hoard 6: threads that meet no lock stay in the same heap.
TEST(Sharing, OneHeapAndOneThatIsChosenByItsLockShareActively) {
    EXPECT_GT(actively_shared<DlmallocLike>(), kBlocks / 8);
    EXPECT_GT(actively_shared<SolarisLike>(), kBlocks / 8);
    EXPECT_GT(actively_shared<PtmallocLike>(), kBlocks / 8);
}

// Hoard 6: each call takes another heap, so a heap's lines come to all threads. Ownership does not help: what a thread
// freed goes to a heap from which all take.
TEST(Sharing, HeapsThatCallsTakeByTurnsShareActivelyAndPassively) {
    const std::size_t active = actively_shared_by_chance<Mtmalloc>();
    const std::size_t passive = passively_shared_by_chance<Mtmalloc>();
    std::printf("lines that two threads share, mtmalloc: active %zu, passive %zu\n", active, passive);
    EXPECT_GT(active, kBlocks / 8);
    EXPECT_GT(passive, kBlocks / 8);
    // Where each thread has a heap of its own, no line is shared.
    EXPECT_EQ(actively_shared_by_chance<Io>(), 0U);
    EXPECT_EQ(passively_shared_by_chance<Io>(), 0U);
}

// jemalloc (2006): an arena has chunks of its own, and gets back what lies in them.
TEST(Sharing, ThreadsInArenasOfTheirOwnShareNothing) {
    if (platform::usable_cpus() == 1) GTEST_SKIP() << "one processor has one arena";
    EXPECT_EQ(actively_shared<Chosen>(), 0U);
    EXPECT_EQ(passively_shared<Chosen>(), 0U);
    EXPECT_EQ(shared_by_moving<Chosen>(), 0U);
}

}  // namespace gr::lab::sharing_test
