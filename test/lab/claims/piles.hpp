// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how much memory a pile of blocks takes that threads produce and consume, or hold by turns.
// Invariant: footprint is the pages in which a block ever lay, counted by address; no time, no RSS.
// Must not know: how memory comes back.
#pragma once

#include <cstdio>

#include "lab/teams.hpp"

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
double produced_and_consumed(Team<A> &team) {
    Footprint footprint;
    for (std::size_t round = 0; round < kRounds; ++round) {
        const std::vector<void *> pile = team.allocate(0, kBlocks, kSize);
        footprint.see(pile);
        team.free(1, pile);
    }
    return footprint.piles();
}
template <class A>
double produced_and_consumed() {
    Team<A> team(2);
    return produced_and_consumed(team);
}

// Each of P threads allocates a pile and frees it, one after the other.
template <class A>
double in_turn(Team<A> &team) {
    Footprint footprint;
    for (std::size_t member = 0; member < team.size(); ++member) {
        const std::vector<void *> pile = team.allocate(member, kBlocks, kSize);
        footprint.see(pile);
        team.free(member, pile);
    }
    return footprint.piles();
}
template <class A>
double in_turn(std::size_t threads) {
    Team<A> team(threads);
    return in_turn(team);
}

// Pairs of threads: in each, one thread allocates a pile and the other frees it, again and again, while all pairs have
// theirs. For each pair.
template <class A>
double of_pairs(const char *name, std::size_t pairs, void (*begin)(Team<A> &) = nullptr) {
    Team<A> team(2 * pairs);
    if (begin != nullptr) begin(team);
    Footprint footprint;
    for (std::size_t round = 0; round < kRounds; ++round) {
        std::vector<std::vector<void *>> piles;
        for (std::size_t pair = 0; pair < pairs; ++pair) {
            piles.push_back(team.allocate(2 * pair, kBlocks, kSize));
            footprint.see(piles.back());
        }
        for (std::size_t pair = 0; pair < pairs; ++pair) team.free(2 * pair + 1, piles[pair]);
    }
    const double for_each = footprint.piles() / static_cast<double>(pairs);
    std::printf("%zu pairs of a producer and a consumer on %s: %.2f piles each\n", pairs, name, for_each);
    return for_each;
}

struct Piles {
    double handed_on;
    double of_few;
    double of_many;
};
inline constexpr std::size_t kFew = 4;
inline constexpr std::size_t kMany = 16;

// All of it of one class of allocator, and a line that says it. `begin`, if there is any, is done with each team first.
template <class A>
Piles piles_of(const char *name, void (*begin)(Team<A> &) = nullptr) {
    const auto of = [begin](std::size_t threads, auto measure) {
        Team<A> team(threads);
        if (begin != nullptr) begin(team);
        return measure(team);
    };
    const auto turns = [](Team<A> &team) { return in_turn(team); };
    const Piles piles{of(2, [](Team<A> &team) { return produced_and_consumed(team); }), of(kFew, turns),
                      of(kMany, turns)};
    std::printf("piles of %s: produced and consumed %.2f; in turn by %zu threads %.2f, by %zu %.2f\n", name,
                piles.handed_on, kFew, piles.of_few, kMany, piles.of_many);
    return piles;
}

// What thresholds let two heaps keep, beside a pile and its rounding up.
inline constexpr double kBounded = 4;
// Of a bound that grows with threads or rounds.
inline constexpr double kMostly = 0.8;

}  // namespace gr::lab
