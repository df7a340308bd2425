// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: blowup by class of allocator (Hoard 2.2 and 6.1): a producer and a consumer, and threads that take turns at a
//    pile.
// Invariant: footprint is the pages in which a block ever lay, counted by address; no time, no RSS.
// Must not know: how memory comes back.
#include "allocators/hoard.hpp"
#include "lab/claims/piles.hpp"
#include "parts/boehm/lists_of_threads.hpp"

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
    for (const Piles &piles : {piles_of<Single>("single"), piles_of<ConcurrentSingle>("concurrent-single"),
                               piles_of<SolarisLike>("solaris-like")}) {
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

// The program of Hoard 6.1: each of P threads allocates a pile, and the next one frees it.
template <class A>
double handed_round(Team<A> &team) {
    Footprint footprint;
    for (std::size_t member = 0; member < team.size(); ++member) {
        const std::vector<void *> pile = team.allocate(member, kBlocks, kSize);
        footprint.see(pile);
        team.free((member + 1) % team.size(), pile);
    }
    return footprint.piles();
}

TEST(Blowup, OfTheProgramOfTheTaxonomyHeapsOfThreadsKeepAPileEach) {
    Team<PtmallocLike> team(kMany);
    team.part();
    EXPECT_GT(handed_round(team), kMostly * kMany);
    Team<Mtmalloc> by_turns(kMany);
    EXPECT_LT(handed_round(by_turns), 2);
}

// One thread's piles: each has all its blocks from one of so many heaps that calls take by turns, because between two
// of its blocks there are as many other calls as other heaps. The next pile is in the next heap.
template <class A>
double in_step(unsigned heaps) {
    A &allocator = the_allocator<A>;
    Footprint footprint;
    for (unsigned heap = 0; heap < heaps; ++heap) {
        std::vector<void *> pile;
        for (std::size_t i = 0; i < kBlocks; ++i) {
            pile.push_back(allocator.allocate(kSize));
            for (unsigned other = 1; other < heaps; ++other) allocator.free(allocator.allocate(1));
        }
        footprint.see(pile);
        for (void *const block : pile) allocator.free(block);
        allocator.free(allocator.allocate(1));
    }
    return footprint.piles();
}

// Calls that go round all heaps leave a part of a pile in each, and whichever thread comes next takes it from there. So
// O(P) is only for a program that keeps step with the turns.
TEST(Blowup, HeapsThatCallsTakeByTurnsKeepAPileEachOnlyForWhoKeepsStep) {
    const Piles piles = piles_of<Mtmalloc>("mtmalloc");
    EXPECT_LT(piles.handed_on, 2);
    EXPECT_LT(piles.of_few, 2);
    EXPECT_LT(piles.of_many, 2);
    const unsigned heaps = ByTurn::count();
    const double stepping = in_step<Mtmalloc>(heaps);
    std::printf("piles of mtmalloc, in step with its %u heaps: %.2f\n", heaps, stepping);
    EXPECT_GT(stepping, kMostly * heaps);
    EXPECT_LT(stepping, 2 * heaps);
}

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
    expect_both(the_allocator<SolarisLike>);
}

// Hoard 2.2 and 4.2: more pairs take more memory only as they have more in use. Pure private heaps lose a pile in each
// round of each pair.
TEST(Blowup, OfPairsOfProducersAndConsumersEachTakesWhatOneDoes) {
    const auto part = [](Team<PtmallocLike> &team) { team.part(); };
    for (const std::size_t pairs : {std::size_t{1}, kFew}) {
        EXPECT_LT(of_pairs<Single>("single", pairs), 2);
        EXPECT_LT(of_pairs<PtmallocLike>("ptmalloc-like", pairs, part), 2);
        EXPECT_LT(of_pairs<Threads>("threads", pairs), kBounded);
        EXPECT_LT(of_pairs<Owned>("owned", pairs), kBounded);
        EXPECT_LT(of_pairs<Hoard>("hoard", pairs), kBounded);
        EXPECT_GT(of_pairs<Private>("private", pairs), kMostly * kRounds);
    }
}

}  // namespace gr::lab::blowup_test
