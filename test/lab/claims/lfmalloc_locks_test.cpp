// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what table 3 of LFMalloc's paper (004, 4.3) compares: sequences take no lock where a mutex for each heap takes
//    one for each operation, and a thread that knows its CPU seldom finds the lock taken.
// Invariant: locks are counted, in the counted build; nothing is timed.
// Must not know: how a lock is made.
#include "allocators/lfmalloc.hpp"

#include "lab/claims/counting.hpp"

namespace gr::lab::lfmalloc_locks_test {

using ByMutexAndCpu = HeapsAndLarge<OnlineSuperblocks<LockedHeaps<ByCpu>>>;
using ByMutexAndHash = HeapsAndLarge<OnlineSuperblocks<LockedHeaps<ByThreadHash>>>;
constexpr const char *kByMutexAndCpu = "lfmalloc-mutex-cpu";

// What a thread holds when it is moved to another CPU comes back by the remote list.
TEST(LfmallocLocks, SequencesRecycleWithoutLocks) {
    const Counts recycled = recycle<Chosen>("lfmalloc");
    if (!ByCpu::is_kept) GTEST_SKIP() << "libc registers no rseq here";
    EXPECT_LT(recycled.locks, kSeldom * 5);
    EXPECT_LT(recycled.waits, kSeldom);
}

TEST(LfmallocLocks, MutexesAreTakenForEachOperation) {
    EXPECT_GE(recycle<ByMutexAndCpu>(kByMutexAndCpu).locks, kEachOperation);
    EXPECT_GE(recycle<ByMutexAndHash>("lfmalloc-mutex-hash").locks, kEachOperation);
}

TEST(LfmallocLocks, TheHeapOfOnesCpuIsSeldomFoundTaken) {
    EXPECT_LT(recycle<ByMutexAndCpu>(kByMutexAndCpu).waits, kSeldom);
}

// A block of another CPU's costs its superblock's lock, half of the operations are frees.
TEST(LfmallocLocks, WhatIsHandedOverCostsALockAtMost) {
    if (!ByCpu::is_kept) GTEST_SKIP() << "libc registers no rseq here";
    EXPECT_LT(hand_over<Chosen>("lfmalloc").locks, kEachOperation * 3 / 4);
}

}  // namespace gr::lab::lfmalloc_locks_test
