// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: blowup by class of allocator (Hoard 2.2 and 6.1): a producer and a consumer, and threads that take turns at a pile.
// Invariant: footprint is the pages in which a block ever lay, counted by address; no time, no RSS.
// Must not know: how memory comes back.
#include "lab/claims/teams.hpp"

namespace gr::lab {
namespace {

constexpr std::size_t kPage = 4 * kKiB;
constexpr std::size_t kSize = 200;
constexpr std::size_t kBlocks = 4000;
constexpr std::size_t kRounds = 20;

class Footprint {
  public:
    void see(const std::vector<void *> &blocks) { pages_.merge(parts_of(blocks, kPage)); }
    // In piles: how often what is in use at most.
    double piles() const { return static_cast<double>(pages_.size() * kPage) / static_cast<double>(kBlocks * kSize); }

  private:
    std::set<std::uintptr_t> pages_;
};

// One allocates a pile, another frees it, again and again.
template <class A>
double produced_and_consumed() {
    Team<A> team(2);
    Footprint footprint;
    for (std::size_t round = 0; round < kRounds; ++round) {
        const std::vector<void *> pile = team.allocate(0, kBlocks, kSize);
        footprint.see(pile);
        team.free(1, pile);
    }
    return footprint.piles();
}

// Each of P threads allocates a pile and frees it, one after the other.
template <class A>
double in_turn(std::size_t threads) {
    Team<A> team(threads);
    Footprint footprint;
    for (std::size_t member = 0; member < threads; ++member) {
        const std::vector<void *> pile = team.allocate(member, kBlocks, kSize);
        footprint.see(pile);
        team.free(member, pile);
    }
    return footprint.piles();
}

// What thresholds let two heaps keep, beside a pile and its rounding up.
constexpr double kBounded = 4;

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

}  // namespace
}  // namespace gr::lab
