// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: blowup by class of allocator (Hoard 2.2 and 6.1): a producer and a consumer, and threads that take turns at a pile.
// Invariant: footprint is the pages in which a block ever lay, counted by address; no time, no RSS.
// Must not know: how memory comes back.
#include "allocators/hoard.hpp"
#include "lab/claims/piles.hpp"
#include "parts/lists_of_threads.hpp"

namespace gr::lab::blowup_test {

using Hoard = Chosen;
using Boehm = HeapsAndLarge<ListsOfThreads<ThreadPointer, Frees::to_local_list>>;

void expect_bounded(const Piles &piles) {
    EXPECT_LT(piles.handed_on, kBounded);
    EXPECT_LT(piles.of_few, kBounded);
    EXPECT_LT(piles.of_many, kBounded);
}
// O(P): a pile for each thread, not more.
void expect_one_for_each_thread(const Piles &piles) {
    EXPECT_GT(piles.of_few, kMostly * kFew);
    EXPECT_LT(piles.of_few, 2 * kFew);
    EXPECT_GT(piles.of_many, kMostly * kMany);
    EXPECT_LT(piles.of_many, 2 * kMany);
}

TEST(Blowup, OneHeapHasOnePile) {
    for (const Piles &piles : {piles_of<Single>("single"), piles_of<ConcurrentSingle>("concurrent-single")}) {
        EXPECT_LT(piles.handed_on, 2);
        EXPECT_LT(piles.of_many, 2);
    }
}

TEST(Blowup, PurePrivateHeapsHaveNoBound) {
    const Piles piles = piles_of<Private>("private");
    EXPECT_GT(piles.handed_on, kMostly * kRounds);
    expect_one_for_each_thread(piles);
}

// Hoard 6: where each thread came to a heap of its own, the heaps keep a pile each, whichever thread frees it.
TEST(Blowup, PrivateHeapsWithOwnershipKeepAPileForEachHeap) {
    const auto part = [](Team<PtmallocLike> &team) { team.part(); };
    const Piles piles = piles_of<PtmallocLike>("ptmalloc-like, each thread in a heap of its own", part);
    EXPECT_LT(piles.handed_on, 2);
    expect_one_for_each_thread(piles);
    // A thread that never finds a lock taken stays in the heap where all begin.
    EXPECT_LT(piles_of<PtmallocLike>("ptmalloc-like, all in one heap").of_many, 2);
}

// Boehm (002): less than two pages of a size stay with a thread.
TEST(Blowup, GlobalFreeListsHandThePileOn) { expect_bounded(piles_of<Boehm>("boehm")); }

TEST(Blowup, HoardIsBounded) { expect_bounded(piles_of<Hoard>("hoard")); }

TEST(Blowup, AGlobalHeapHandsThePileOn) {
    expect_bounded(piles_of<Owned>("owned"));
    expect_bounded(piles_of<Threads>("threads"));
    expect_bounded(piles_of<Restricted>("restricted"));
    expect_bounded(piles_of<Lockfree>("lockfree"));
}

TEST(Blowup, AGlobalHeapBoundsProducersAndConsumers) {
    EXPECT_LT(produced_and_consumed<Containers>(), kBounded);
    EXPECT_LT(produced_and_consumed<Buffered>(), kBounded);
    EXPECT_LT(produced_and_consumed<Remote>(), kBounded);
    EXPECT_LT(produced_and_consumed<Recommended>(), kBounded);
    EXPECT_LT(produced_and_consumed<Varied>(), kBounded);
    EXPECT_LT(produced_and_consumed<Hoard36>(), kBounded);
}

TEST(Blowup, CoalescingIsBoundedWithAndWithoutOwnership) {
    const auto expect_both = []<class A>(A &) {
        EXPECT_LT(produced_and_consumed<A>(), kBounded);
        EXPECT_LT(in_turn<A>(kMany), kBounded);
    };
    expect_both(the_allocator<InC>);
    expect_both(the_allocator<InCl>);
    expect_both(the_allocator<InCr>);
    expect_both(the_allocator<IoC>);
    expect_both(the_allocator<IoCl>);
    expect_both(the_allocator<IoCr>);
    expect_both(the_allocator<Coalescing>);
    expect_both(the_allocator<CoalescingClearedIntoBuffer>);
    expect_both(the_allocator<DlmallocLike>);
}

}  // namespace gr::lab::blowup_test
