// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what becomes of a heap whose thread has ended (Wasik 3.1.1): it waits for the next thread, or its free blocks
//    go to the global heap.
// Invariant: blocks are counted by address; no time, no RSS.
// Must not know: how a heap is emptied.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "lab/teams.hpp"

namespace gr::lab::ended_threads_test {

constexpr std::size_t kThreads = 8;
constexpr std::size_t kSize = 200;
// Of one heap; so few that no threshold is crossed.
constexpr std::size_t kBlocks = 100;

// Threads that live together allocate as many blocks each, free them, and end. How many of these blocks one thread gets
// that begins afterwards and allocates as many as all had.
template <class A>
std::size_t found_after_all_have_ended(const char *name) {
    static constinit A allocator{};
    std::set<void *> freed;
    {
        Team<A> team(kThreads, allocator);
        for (std::size_t member = 0; member < kThreads; ++member) {
            const std::vector<void *> blocks = team.allocate(member, kBlocks, kSize);
            freed.insert(blocks.begin(), blocks.end());
            team.free(member, blocks);
        }
    }
    EXPECT_EQ(freed.size(), kThreads * kBlocks);
    Team<A> next(1, allocator);
    const std::vector<void *> blocks = next.allocate(0, kThreads * kBlocks, kSize);
    const auto found = static_cast<std::size_t>(
        std::count_if(blocks.begin(), blocks.end(), [&freed](void *block) { return freed.contains(block); }));
    std::printf("blocks of %zu ended threads that the next gets, of %s: %zu of %zu\n", kThreads, name, found,
                freed.size());
    return found;
}

TEST(EndedThreads, AHeapThatIsReusedGivesTheNextThreadItsOwnBlocks) {
    EXPECT_EQ(found_after_all_have_ended<Threads>("threads"), kBlocks);
}

TEST(EndedThreads, HeapsThatAreDestroyedGiveTheNextThreadTheBlocksOfAll) {
    EXPECT_EQ(found_after_all_have_ended<ThreadsDestroyed>("threads-destroyed"), kThreads * kBlocks);
}

// Containers have room behind what was ever allocated, so few new ones would do in any case.
TEST(EndedThreads, ContainersOfADestroyedHeapAreTheNextThreadsToo) {
    EXPECT_LE(found_after_all_have_ended<Owned>("owned"), kBlocks);
    EXPECT_GT(found_after_all_have_ended<OwnedDestroyed>("owned-destroyed"), kBlocks);
}

}  // namespace gr::lab::ended_threads_test
