// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how much memory a pile of blocks takes that threads produce and consume, or hold by turns.
// Invariant: footprint is the pages in which a block ever lay, counted by address; no time, no RSS.
// Must not know: how memory comes back.
#pragma once

#include "lab/claims/teams.hpp"

namespace gr::lab {

inline constexpr std::size_t kPage = 4 * kKiB;
inline constexpr std::size_t kSize = 200;
inline constexpr std::size_t kBlocks = 4000;
inline constexpr std::size_t kRounds = 20;

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
inline constexpr double kBounded = 4;

}  // namespace gr::lab
