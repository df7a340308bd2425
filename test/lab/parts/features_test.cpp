// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what each feature does with a block that is freed: where it waits, which heap has it, which thread gets it next
//    (Wasik 3.1).
// Invariant: told by addresses and by the heap that a block names; threads take turns at an allocator that was not used
//    before.
// Must not know: how a feature does it.
#include <algorithm>

#include "lab/teams.hpp"

namespace gr::lab::features_test {

constexpr std::size_t kSize = 200;

std::set<void *> set_of(const std::vector<void *> &blocks) { return {blocks.begin(), blocks.end()}; }

std::size_t common(const std::vector<void *> &one, const std::vector<void *> &other) {
    const std::set<void *> known = set_of(one);
    std::size_t count = 0;
    for (void *const block : other) count += known.count(block);
    return count;
}

template <class A>
std::set<HeapNumber> heaps_of(const std::vector<void *> &blocks) {
    std::set<HeapNumber> heaps;
    for (void *const block : blocks) heaps.insert(BlocksOf<A>::heap_of(block));
    return heaps;
}

// Few enough for any buffer.
constexpr std::size_t kFew = 100;

// One thread allocates; another, with a heap and a buffer, frees and allocates as many. How many blocks it gets again.
template <class A>
std::size_t taken_again_by_who_freed() {
    static constinit A allocator{};
    Team<A> team(2, allocator);
    team.allocate(1, 1, kSize);
    const std::vector<void *> blocks = team.allocate(0, kFew, kSize);
    team.free(1, blocks);
    return common(blocks, team.allocate(1, kFew, kSize));
}

// 5.6
TEST(FeaturesTest, ABufferHasBlocksOfItsThreadsHeapAlone) {
    EXPECT_EQ(taken_again_by_who_freed<Buffered>(), 0U);
    EXPECT_EQ(taken_again_by_who_freed<Recommended>(), 0U);
    EXPECT_EQ(taken_again_by_who_freed<IoL>(), 0U);
    EXPECT_EQ(taken_again_by_who_freed<IoCl>(), 0U);
    EXPECT_EQ(taken_again_by_who_freed<Coalescing>(), 0U);
}

// 3.1.1.1
TEST(FeaturesTest, WhatWaitsForItsOwnerIsTakenAgainWithReallocationAlone) {
    EXPECT_EQ(taken_again_by_who_freed<Delayed>(), 0U);
    EXPECT_EQ(taken_again_by_who_freed<DelayedReused>(), kFew);
    EXPECT_EQ(taken_again_by_who_freed<Hoard36>(), kFew);
}

// The memory of many rounds in which one allocates and another frees, in that of the first.
template <class A>
double memory_where_another_frees() {
    constexpr std::size_t kMany = 2000;
    constexpr std::size_t kRounds = 8;
    static constinit A allocator{};
    Team<A> team(2, allocator);
    std::set<std::uintptr_t> units;
    std::size_t first = 0;
    for (std::size_t round = 0; round < kRounds; ++round) {
        const std::vector<void *> blocks = team.allocate(0, kMany, kSize);
        units.merge(parts_of(blocks, kUnitBytes));
        if (round == 0) first = units.size();
        team.free(1, blocks);
    }
    return static_cast<double>(units.size()) / static_cast<double>(first);
}

// 3.1.4, 3.2.4.3
TEST(FeaturesTest, WhatOthersPutIntoRemoteListsIsTakenBeforeAnythingNew) {
    EXPECT_LT(memory_where_another_frees<Remote>(), 2);
    EXPECT_LT(memory_where_another_frees<Lockfree>(), 2);
    EXPECT_LT(memory_where_another_frees<ContainerRemote>(), 2);
    EXPECT_LT(memory_where_another_frees<IoR>(), 2);
    EXPECT_LT(memory_where_another_frees<IoCr>(), 2);
    EXPECT_LT(memory_where_another_frees<Coalescing>(), 2);
}

// A heap without anything free, two neighbours in its remote list, and a request that only both have room for.
template <class A>
bool neighbours_are_joined() {
    using Blocks = BlocksOf<A>;
    constexpr std::size_t kHalf = 1000;
    static constinit A allocator{};
    Team<A> team(2, allocator);
    std::vector<void *> halves = team.allocate(0, 2, kHalf);
    const std::size_t halves_bytes = Blocks::bytes_of(halves[0]) + Blocks::bytes_of(halves[1]);
    team.allocate(0, 1, Blocks::kWholeBytes - halves_bytes - Blocks::kTagsBytes);
    team.free(1, halves);
    return team.allocate(0, 1, 2 * kHalf).front() == halves.front();
}

// 7.4
TEST(FeaturesTest, WhatIsClearedIntoABufferIsNotJoinedAtOnce) {
    EXPECT_TRUE(neighbours_are_joined<Coalescing>());
    EXPECT_FALSE(neighbours_are_joined<CoalescingClearedIntoBuffer>());
}

// Of each container of 64 KiB one block; the others of them.
struct OneOfEach {
    std::vector<void *> ones;
    std::vector<void *> others;

    explicit OneOfEach(const std::vector<void *> &blocks) {
        std::set<std::uintptr_t> seen;
        for (void *const block : blocks) {
            const bool is_first = seen.insert(reinterpret_cast<std::uintptr_t>(block) / kUnitBytes).second;
            (is_first ? ones : others).push_back(block);
        }
    }
};

constexpr std::size_t kManyContainers = 20 * kUnitBytes / kSize;

// So much is free that containers go, while one block of each is in use: how many name the global heap then. Another
// frees those, too.
template <class A>
std::size_t moved_in_use() {
    static constinit A allocator{};
    Team<A> team(2, allocator);
    const OneOfEach blocks(team.allocate(0, kManyContainers, kSize));
    team.free(0, blocks.others);
    std::size_t moved = 0;
    for (void *const block : blocks.ones) moved += BlocksOf<A>::heap_of(block) == 0 ? 1 : 0;
    team.free(1, blocks.ones);
    return moved;
}

// 5.4, 5.5
TEST(FeaturesTest, ContainersInUseMoveUnlessTheyAreRestricted) {
    EXPECT_GE(moved_in_use<Owned>(), 10U);
    EXPECT_GE(moved_in_use<OwnedRemote>(), 10U);
    EXPECT_EQ(moved_in_use<Restricted>(), 0U);
    EXPECT_EQ(moved_in_use<Remote>(), 0U);
    EXPECT_EQ(moved_in_use<Varied>(), 0U);
}

// The remote list of the heap that its container has left is cleared, and the block goes on.
TEST(FeaturesTest, WhatWaitsWhileItsContainerMovesComesToItsNewHeap) {
    using A = OwnedRemote;
    static constinit A allocator{};
    Team<A> team(3, allocator);
    const OneOfEach kept(team.allocate(0, kManyContainers, kSize));
    const OneOfEach waiting(kept.others);
    team.free(1, waiting.ones);
    team.free(0, waiting.others);
    const std::vector<void *> taken = team.allocate(2, kManyContainers, kSize);
    EXPECT_GT(common(waiting.others, taken), kManyContainers / 2) << "containers that moved";
    const std::vector<void *> own = team.allocate(0, kManyContainers, kSize);
    EXPECT_EQ(heaps_of<A>(own).size(), 1U);
    EXPECT_EQ(heaps_of<A>(taken).size(), 1U);
    EXPECT_NE(heaps_of<A>(own), heaps_of<A>(taken));
    // What waited for the other comes to it now.
    EXPECT_GT(common(waiting.ones, team.allocate(2, kManyContainers, kSize)), 0U);
}

// 5.2
TEST(FeaturesTest, HeapsOfThreadsThatEndedAreTakenOver) {
    using A = Owned;
    static constinit A allocator{};
    const auto heaps_of_team = [](std::size_t size) {
        Team<A> team(size, allocator);
        std::vector<void *> blocks;
        for (std::size_t member = 0; member < size; ++member) blocks.push_back(team.allocate(member, 1, kSize).front());
        return heaps_of<A>(blocks);
    };
    const std::set<HeapNumber> first = heaps_of_team(3);
    EXPECT_EQ(first.size(), 3U);
    EXPECT_EQ(heaps_of_team(3), first);
    EXPECT_EQ(heaps_of_team(4).size(), 4U);
}

TEST(FeaturesTest, WhoAllocatesAfterItsEndKeepsNoHeap) {
    using A = Owned;
    static constinit A allocator{};
    Team<A> team(2, allocator);
    team[0].run([] { allocator.thread_ends(); });
    const std::vector<void *> late = team.allocate(0, 1, kSize);
    EXPECT_EQ(heaps_of<A>(team.allocate(1, 1, kSize)), heaps_of<A>(late));
}

// 3.1.1, 5.5: the owner of a block in use is the global heap then. It gives away only what has room, and each block
// once it is freed.
TEST(FeaturesTest, BlocksOutliveADestroyedHeapAndComeBackFromTheGlobalHeap) {
    using A = OwnedDestroyed;
    static constinit A allocator{};
    constexpr std::size_t kOfTwoContainers = 2 * kUnitBytes / kSize;
    Team<A> others(1, allocator);
    others.allocate(0, 1, kSize);
    std::vector<void *> left;
    {
        Team<A> ending(1, allocator);
        left = ending.allocate(0, kOfTwoContainers, kSize);
    }
    for (void *const block : left) EXPECT_EQ(BlocksOf<A>::heap_of(block), 0U);
    const std::vector<void *> meanwhile = others.allocate(0, kOfTwoContainers, kSize);
    EXPECT_EQ(std::ranges::count(meanwhile, nullptr), 0);
    EXPECT_EQ(common(left, meanwhile), 0U);
    others.free(0, left);
    Team<A> next(1, allocator);
    EXPECT_GE(common(left, next.allocate(0, kOfTwoContainers, kSize)), kOfTwoContainers / 2);
}

}  // namespace gr::lab::features_test
