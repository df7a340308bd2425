// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what Hoard's paper claims of it (000, 3.3): threads do not share lines.
// Invariant: told by addresses, never by time.
// Must not know: how superblocks move.
#include "allocators/hoard.hpp"

#include "lab/teams.hpp"

namespace gr::lab {
namespace {

constexpr std::size_t kSmall = 8;
constexpr std::size_t kMany = 1000;

// Two threads whose numbers follow each other have two heaps.
TEST(HoardSharing, ThreadsWithHeapsOfTheirOwnDoNotShareActively) {
    Team<Chosen> team(2);
    std::vector<void *> held[2];
    for (std::size_t i = 0; i < kMany; ++i)
        for (const std::size_t member : {0U, 1U}) held[member].push_back(team.allocate(member, 1, kSmall).front());
    EXPECT_EQ(shared_lines(held[0], held[1]), 0U);
    for (const std::size_t member : {0U, 1U}) team.free(member, held[member]);
}

TEST(HoardSharing, WhatIsFreedElsewhereGoesBackToItsSuperblock) {
    Team<Chosen> team(2);
    const std::vector<void *> all = team.allocate(0, kMany, kSmall);
    std::vector<void *> kept;
    std::vector<void *> passed;
    for (std::size_t i = 0; i < all.size(); ++i) (i % 2 == 0 ? kept : passed).push_back(all[i]);
    team.free(1, passed);
    const std::vector<void *> own = team.allocate(1, kMany / 2, kSmall);
    EXPECT_EQ(shared_lines(kept, own), 0U);
    team.free(0, kept);
    team.free(1, own);
}

}  // namespace
}  // namespace gr::lab
