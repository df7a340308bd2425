// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: blowup by class of allocator (Hoard 2.2 and 6.1): a producer and a consumer, and threads that take turns at a pile.
// Invariant: footprint is the pages in which a block ever lay, counted by address; no time, no RSS.
// Must not know: how memory comes back.
#include "lab/claims/piles.hpp"

namespace gr::lab {
namespace {

TEST(Blowup, PurePrivateHeapsHaveNoBound) { EXPECT_GT(produced_and_consumed<Private>(), 0.8 * kRounds); }

TEST(Blowup, AGlobalHeapBoundsProducersAndConsumers) {
    EXPECT_LT(produced_and_consumed<Single>(), kBounded);
    EXPECT_LT(produced_and_consumed<Threads>(), kBounded);
    EXPECT_LT(produced_and_consumed<LooseContainers>(), kBounded);
    EXPECT_LT(produced_and_consumed<Owned>(), kBounded);
    EXPECT_LT(produced_and_consumed<Restricted>(), kBounded);
    EXPECT_LT(produced_and_consumed<Buffered>(), kBounded);
    EXPECT_LT(produced_and_consumed<Remote>(), kBounded);
    EXPECT_LT(produced_and_consumed<Recommended>(), kBounded);
    EXPECT_LT(produced_and_consumed<Varied>(), kBounded);
    EXPECT_LT(produced_and_consumed<LockFree>(), kBounded);
    EXPECT_LT(produced_and_consumed<Hoard36>(), kBounded);
}

TEST(Blowup, PrivateHeapsKeepAPileForEachThread) {
    EXPECT_GT(in_turn<Private>(4), 0.8 * 4);
    EXPECT_GT(in_turn<Private>(16), 0.8 * 16);
}

TEST(Blowup, AGlobalHeapHandsThePileOn) {
    EXPECT_LT(in_turn<Threads>(16), kBounded);
    EXPECT_LT(in_turn<Owned>(16), kBounded);
    EXPECT_LT(in_turn<Restricted>(16), kBounded);
    EXPECT_LT(in_turn<LockFree>(16), kBounded);
}

TEST(Blowup, CoalescingIsBoundedWithAndWithoutOwnership) {
    const auto expect_bounded = []<class A>(A &) {
        EXPECT_LT(produced_and_consumed<A>(), kBounded);
        EXPECT_LT(in_turn<A>(16), kBounded);
    };
    expect_bounded(the_allocator<InC>);
    expect_bounded(the_allocator<InCl>);
    expect_bounded(the_allocator<InCr>);
    expect_bounded(the_allocator<IoC>);
    expect_bounded(the_allocator<IoCl>);
    expect_bounded(the_allocator<IoCr>);
    expect_bounded(the_allocator<IoClr>);
    expect_bounded(the_allocator<IoClrCleared>);
    expect_bounded(the_allocator<DlmallocLike>);
}

// Hoard 6: where each thread came to a heap of its own, the heaps keep a pile each, whoever frees it: O(P), not more.
TEST(Blowup, PrivateHeapsWithOwnershipKeepAPileForEachHeap) {
    using EachInItsHeap = Composed<thread_heaps + coalescing + best_fit + ownership + no_global_heap>;
    EXPECT_LT(produced_and_consumed<EachInItsHeap>(), 2);
    EXPECT_GT(in_turn<EachInItsHeap>(4), 0.8 * 4);
    EXPECT_GT(in_turn<EachInItsHeap>(16), 0.8 * 16);
    EXPECT_LT(in_turn<EachInItsHeap>(16), 2 * 16);
}

}  // namespace
}  // namespace gr::lab
