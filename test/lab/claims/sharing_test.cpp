// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which allocators put blocks of two threads into one cache line: actively, by turns of malloc, and passively, by
//       reusing what another allocated (Hoard 2.1; Wasik 2.3.2, figures 3.5 and 3.7).
// Invariant: told by addresses, never by time.
// Must not know: how an allocator comes to its addresses.
#include "allocators/jemalloc2006.hpp"
#include "lab/teams.hpp"

namespace gr::lab {
namespace {

constexpr std::size_t kBlocks = 1000;
constexpr std::size_t kSize = 8;

// Two threads allocate by turns.
template <class A>
std::size_t actively_shared() {
    Team<A> team(2);
    std::vector<void *> held[2];
    for (std::size_t i = 0; i < kBlocks; ++i) {
        for (std::size_t member : {0U, 1U}) held[member].push_back(team.allocate(member, 1, kSize).front());
    }
    const std::size_t shared = shared_lines(held[0], held[1]);
    for (std::size_t member : {0U, 1U}) team.free(member, held[member]);
    return shared;
}

// One allocates; the other frees every second block and allocates as many.
template <class A>
std::size_t passively_shared() {
    Team<A> team(2);
    const std::vector<void *> all = team.allocate(0, kBlocks, kSize);
    std::vector<void *> kept;
    std::vector<void *> passed;
    for (std::size_t i = 0; i < all.size(); ++i) (i % 2 == 0 ? kept : passed).push_back(all[i]);
    team.free(1, passed);
    const std::vector<void *> own = team.allocate(1, kBlocks / 2, kSize);
    const std::size_t shared = shared_lines(kept, own);
    team.free(0, kept);
    team.free(1, own);
    return shared;
}

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

// Figure 3.7: a container that moves with blocks in use gives its lines to another thread. So much is freed that
// containers go to the global heap, while one block of each stays in use.
template <class A>
std::size_t shared_by_moving() {
    constexpr std::size_t kMany = 40'000;
    constexpr std::size_t kStep = 8;
    Team<A> team(2);
    const std::vector<void *> all = team.allocate(0, kMany, kSize);
    std::vector<void *> kept;
    std::vector<void *> freed;
    for (std::size_t i = 0; i < all.size(); ++i) (i % kStep == 0 ? kept : freed).push_back(all[i]);
    team.free(0, freed);
    const std::vector<void *> own = team.allocate(1, kMany, kSize);
    const std::size_t shared = shared_lines(kept, own);
    team.free(0, kept);
    team.free(1, own);
    return shared;
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

// 3.2.1.3: whoever frees a block has it, and splits and takes it again.
TEST(Sharing, CoalescingWithoutOwnershipSharesPassively) {
    EXPECT_GT(passively_shared<InC>(), kBlocks / 8);
    EXPECT_GT(passively_shared<InCl>(), kBlocks / 8);
    EXPECT_GT(passively_shared<InCr>(), kBlocks / 8);
}

// Hoard 6: threads that meet no lock stay in the same heap.
TEST(Sharing, OneHeapAndOneThatIsChosenByItsLockShareActively) {
    EXPECT_GT(actively_shared<DlmallocLike>(), kBlocks / 8);
    EXPECT_GT(actively_shared<PtmallocLike>(), kBlocks / 8);
}

// jemalloc (2006): an arena has chunks of its own, and gets back what lies in them.
TEST(Sharing, ThreadsInArenasOfTheirOwnShareNothing) {
    if (platform::usable_cpus() == 1) GTEST_SKIP() << "one processor has one arena";
    EXPECT_EQ(actively_shared<Chosen>(), 0U);
    EXPECT_EQ(passively_shared<Chosen>(), 0U);
    EXPECT_EQ(shared_by_moving<Chosen>(), 0U);
}

}  // namespace
}  // namespace gr::lab
