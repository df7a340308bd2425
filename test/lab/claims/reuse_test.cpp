// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: last in, first out: which allocators give a thread again the block that it freed last (Hoard 3; Wasik 5.4).
// Invariant: told by addresses, never by time. Each count is printed.
// Must not know: how an allocator keeps free blocks.
#include <cstdio>

#include "lab/claims/named_hoard.hpp"
#include "lab/teams.hpp"

namespace gr::lab::reuse_test {

constexpr std::size_t kFree = 1000;
constexpr std::size_t kSize = 200;

// Of so many pairs of malloc and free, after as many blocks were freed, the different blocks.
template <class A>
std::size_t reused() {
    Team<A> team(1);
    team.free(0, team.allocate(0, kFree, kSize));
    std::set<void *> blocks;
    for (std::size_t i = 0; i < kFree; ++i) {
        const std::vector<void *> block = team.allocate(0, 1, kSize);
        blocks.insert(block.front());
        team.free(0, block);
    }
    std::printf("%zu pairs use %zu blocks: %s\n", kFree, blocks.size(), kNameOf<A>);
    return blocks.size();
}

TEST(Reuse, WhatWasFreedLastIsTakenFirst) {
    EXPECT_EQ(reused<Single>(), 1U);
    EXPECT_EQ(reused<Threads>(), 1U);
    EXPECT_EQ(reused<Containers>(), 1U);
    EXPECT_EQ(reused<Owned>(), 1U);
    EXPECT_EQ(reused<Buffered>(), 1U);
    EXPECT_EQ(reused<Remote>(), 1U);
    EXPECT_EQ(reused<Lockfree>(), 1U);
    EXPECT_EQ(reused<Chosen>(), 1U);
}

}  // namespace gr::lab::reuse_test
