// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which allocators take locks and wait for them, when threads recycle blocks of their own and when they free each
//    other's (Wasik 6.1.2's recycle and consume, 7.2).
// Invariant: locks are counted, in the counted build; nothing is timed.
// Must not know: how a lock is made.
#include "allocators/jemalloc2006.hpp"
#include "lab/claims/counting.hpp"
#include "lab/claims/stopped.hpp"
#include "platform/process.hpp"

namespace gr::lab {

template <>
inline constexpr const char *kNameOf<Chosen> = "jemalloc2006";

}  // namespace gr::lab

namespace gr::lab::locks_test {

TEST(Locks, OneHeapLocksForEachOperationOfARecycle) { EXPECT_GE(recycle<Single>().locks, kEachOperation); }

// One thread after the other comes to the heap while a thread is stopped in it.
TEST(Locks, WhoIsInTheOnlyHeapIsWaitedForByAll) {
    EXPECT_EQ(waiting_for_who_is_stopped<Single>(kSize), kThreads - 1);
    EXPECT_EQ(waiting_for_who_is_stopped<DlmallocLike>(kSize), kThreads - 1);
    EXPECT_EQ(waiting_for_who_is_stopped<SolarisLike>(kSize), kThreads - 1);
}

// Hoard 6.1: a lock for each bin.
TEST(Locks, WhoIsInAConcurrentHeapIsWaitedForByThoseOfHisBin) {
    EXPECT_EQ(waiting_for_who_is_stopped<ConcurrentSingle>(kStoppedSize), kThreads - 1);
    EXPECT_EQ(waiting_for_who_is_stopped<ConcurrentSingle>(kSize), 0U);
}

TEST(Locks, WhoIsInAHeapOfHisOwnIsWaitedForByNobody) {
    EXPECT_EQ(waiting_for_who_is_stopped<Threads>(kStoppedSize), 0U);
    EXPECT_EQ(waiting_for_who_is_stopped<Containers>(kStoppedSize), 0U);
    EXPECT_EQ(waiting_for_who_is_stopped<Owned>(kStoppedSize), 0U);
    EXPECT_EQ(waiting_for_who_is_stopped<Restricted>(kStoppedSize), 0U);
    EXPECT_EQ(waiting_for_who_is_stopped<Remote>(kStoppedSize), 0U);
    EXPECT_EQ(waiting_for_who_is_stopped<Lockfree>(kStoppedSize), 0U);
    EXPECT_EQ(waiting_for_who_is_stopped<PtmallocLike>(kStoppedSize), 0U);
}

TEST(Locks, OwnedHeapsLockForEachOperationButSeldomWait) {
    for (const Counts &owned : {recycle<Owned>(), recycle<Restricted>()}) {
        EXPECT_GE(owned.locks, kEachOperation);
        EXPECT_LT(owned.waits, kSeldom);
    }
}

TEST(Locks, PrivateHeapsAndBuffersRecycleWithoutLocks) {
    EXPECT_LT(recycle<Threads>().locks, kSeldom);
    EXPECT_LT(recycle<Containers>().locks, kSeldom);
    EXPECT_LT(recycle<Remote>().locks, kSeldom);
    EXPECT_LT(recycle<Recommended>().locks, kSeldom);
    // Of a buffer that is never full, but for the first of each block.
    EXPECT_LT(recycle<Buffered>().locks, kSeldom);
}

TEST(Locks, WhatIsHandedOverCostsALockWithoutRemoteListsToo) {
    EXPECT_GE(hand_over<Owned>().locks, kEachOperation);
    EXPECT_GE(hand_over<Restricted>().locks, kEachOperation);
    // Half of the operations: frees. And one for each clearing.
    const Counts remote = hand_over<Remote>();
    EXPECT_GE(remote.locks, kEachOperation / 2);
    EXPECT_LT(remote.locks, kEachOperation * 3 / 4);
}

TEST(Locks, TheLockFreeAllocatorTakesNone) {
    const Counts recycled = recycle<Lockfree>();
    EXPECT_EQ(recycled.locks, 0);
    const Counts handed = hand_over<Lockfree>();
    EXPECT_EQ(handed.locks, 0);
    EXPECT_EQ(handed.waits, 0);
    EXPECT_EQ(hand_over<Streamflow>().locks, 0);
}

// jemalloc (2006): with four arenas a processor threads seldom meet, and in turn not before all have one.
TEST(Locks, ThreadsInArenasOfTheirOwnLockForEachOperationButSeldomWait) {
    if (platform::usable_cpus() == 1) GTEST_SKIP() << "one processor has one arena";
    const Counts arenas = recycle<Chosen>();
    EXPECT_GE(arenas.locks, kEachOperation);
    EXPECT_LT(arenas.waits, kSeldom / 100) << "at their first allocation";
}

// 3.2.2.3 to 3.2.2.5, 5.10.
TEST(Locks, CoalescingIsSparedItsLocksByABufferOrByRemoteLists) {
    EXPECT_GE(recycle<IoC>().locks, kEachOperation);
    EXPECT_LT(recycle<IoCl>().locks, kSeldom);
    EXPECT_LT(recycle<Coalescing>().locks, kSeldom);
    EXPECT_LT(recycle<CoalescingClearedIntoBuffer>().locks, kSeldom);
    // Without a buffer a batch that is freed is a whole region again, which goes to the global heap and comes back.
    EXPECT_LT(recycle<IoCr>().locks, kEachOperation / kBatch * 2);
    EXPECT_LT(recycle<InC>().locks, kEachOperation / kBatch * 2);
}

// Hoard 6: each call takes one, whether or not it waits for it.
TEST(Locks, OneHeapAndOneThatIsChosenByItsLockLockForEachOperation) {
    EXPECT_GE(recycle<DlmallocLike>().locks, kEachOperation);
    EXPECT_GE(recycle<SolarisLike>().locks, kEachOperation);
    EXPECT_GE(recycle<PtmallocLike>().locks, kEachOperation);
}

// Hoard 6: each malloc, which is half of the operations, writes the word that says whose turn it is, and each operation
// locks a heap.
TEST(Locks, HeapsThatCallsTakeByTurnsChangeOneWordForEachMalloc) {
    const Counts turns = recycle<Mtmalloc>();
    EXPECT_GE(turns.locks, kEachOperation);
    EXPECT_GE(turns.atomics, kEachOperation / 2);
    EXPECT_LT(turns.atomics, kEachOperation / 2 + kSeldom);
    EXPECT_LT(recycle<DlmallocLike>().atomics, kSeldom);
}

// 3.1.1, 5.2: threads that come one after the other and ask for the same find it in the heap of the one before. Where
// its heap was destroyed, each block comes from the global heap.
template <class A>
double locks_of_a_thread_that_follows() {
    constexpr std::size_t kGenerations = 50;
    const auto live = [] {
        std::vector<void *> blocks(kBatch);
        for (void *&block : blocks) block = the_allocator<A>.allocate(kSize);
        for (void *const block : blocks) the_allocator<A>.free(block);
        the_allocator<A>.thread_ends();
    };
    std::thread(live).join();
    const std::uint64_t before = platform::counted(platform::Event::lock);
    for (std::size_t i = 0; i < kGenerations; ++i) std::thread(live).join();
    return static_cast<double>(platform::counted(platform::Event::lock) - before) / kGenerations;
}

TEST(Locks, AHeapThatIsReusedSparesTheNextThreadTheGlobalHeap) {
    // Of the list of heaps.
    EXPECT_LE(locks_of_a_thread_that_follows<Threads>(), 2);
    EXPECT_GE(locks_of_a_thread_that_follows<ThreadsDestroyed>(), kBatch);
}

}  // namespace gr::lab::locks_test
