// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how full superblocks are said to be, against what the test allocated, and what follows for moving blocks.
// Invariant: one thread, so every count is exact.
// Must not know: what moves blocks, and when.
#include "instance/utilization.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>
#include <vector>

#include "instance/fresh_instance.hpp"

namespace gr::utilization_test {

using fake::FreshInstance;

constexpr std::size_t kSize = 16 * kKiB;  // four blocks a superblock, so that a test fills several

gr_utilization utilization(FreshInstance &instance, const void *p) {
    gr_utilization u{};
    EXPECT_TRUE(find_utilization(*instance, p, &u));
    return u;
}

// `count` blocks, and nothing in any magazine.
std::vector<void *> allocate(FreshInstance &instance, std::size_t count) {
    std::vector<void *> blocks(count);
    for (void *&p : blocks) p = instance->allocate(kSize);
    instance->trim(0);
    return blocks;
}

// Frees what stands at these places of the list; nothing stays in a magazine.
void free_at(FreshInstance &instance, std::vector<void *> &blocks, std::initializer_list<std::size_t> places) {
    for (const std::size_t i : places) instance->free("test", std::exchange(blocks[i], nullptr));
    instance->trim(0);
}

void free_all(FreshInstance &instance, const std::vector<void *> &blocks) {
    for (void *p : blocks) {
        if (p != nullptr) instance->free("test", p);
    }
}

TEST(Utilization, CountsTheSuperblockAndItsClass) {
    FreshInstance instance;
    std::vector<void *> blocks = allocate(instance, 12);
    const std::uint64_t per_superblock = shape_of(class_of(kSize)).blocks;
    ASSERT_EQ(per_superblock, 4U);
    const gr_utilization full = utilization(instance, blocks[0]);
    EXPECT_EQ(full.block_bytes, kSize);
    EXPECT_EQ(full.superblock_blocks, per_superblock);
    EXPECT_EQ(full.superblock_used, per_superblock);
    EXPECT_EQ(full.class_blocks, 12U);
    EXPECT_EQ(full.class_used, 12U);
    EXPECT_EQ(full.move_helps, 0U);
    free_at(instance, blocks, {1, 2, 3, 4});
    const gr_utilization sparse = utilization(instance, blocks[0]);
    EXPECT_EQ(sparse.superblock_used, 1U);
    EXPECT_EQ(sparse.class_blocks, 12U);
    EXPECT_EQ(sparse.class_used, 8U);
    EXPECT_EQ(utilization(instance, blocks[5]).superblock_used, 3U);
    free_all(instance, blocks);
}

TEST(Utilization, MovingHelpsWhereOthersAreFullerAndHaveRoom) {
    FreshInstance instance;
    std::vector<void *> blocks = allocate(instance, 12);
    free_at(instance, blocks, {1, 2, 3});  // 1, 4, 4 of 4: the others have no room
    EXPECT_EQ(utilization(instance, blocks[0]).move_helps, 0U);
    free_at(instance, blocks, {4});  // 1, 3, 4
    EXPECT_EQ(utilization(instance, blocks[0]).move_helps, 1U);
    EXPECT_EQ(utilization(instance, blocks[5]).move_helps, 0U) << "fuller than the average";
    EXPECT_EQ(utilization(instance, blocks[8]).move_helps, 0U) << "full";
    free_all(instance, blocks);
}

TEST(Utilization, SuperblocksOfTheGlobalHeapCount) {
    FreshInstance instance;
    std::vector<void *> blocks = allocate(instance, 48);
    for (std::size_t i = 0; i < blocks.size(); i += 4) free_at(instance, blocks, {i + 1, i + 2, i + 3});
    const gr_utilization sparse = utilization(instance, blocks[0]);
    EXPECT_EQ(sparse.class_blocks, 48U);
    EXPECT_EQ(sparse.class_used, 12U);
    free_all(instance, blocks);
}

TEST(Utilization, TheOnlySuperblockIsNoBetterThanItself) {
    FreshInstance instance;
    std::vector<void *> blocks = allocate(instance, 4);
    free_at(instance, blocks, {0, 1, 2});
    EXPECT_EQ(utilization(instance, blocks[3]).move_helps, 0U);
    instance->free("test", blocks[3]);
}

TEST(Utilization, RunsAndDirectBlocksAreWholes) {
    FreshInstance instance;
    for (const std::size_t size : {100 * kKiB, 40 * kMiB}) {
        void *const p = instance->allocate(size);
        const gr_utilization u = utilization(instance, p);
        EXPECT_EQ(u.block_bytes, instance->usable_size("test", p));
        EXPECT_EQ(u.superblock_blocks * u.superblock_used * u.class_blocks * u.class_used, 1U);
        EXPECT_EQ(u.move_helps, 0U);
        instance->free("test", p);
    }
}

TEST(Utilization, OnlyOfBlocksInUse) {
    FreshInstance instance;
    char *const p = static_cast<char *>(instance->allocate(kSize));
    gr_utilization u{1, 2, 3, 4, 5, 6};
    int local = 0;
    EXPECT_FALSE(find_utilization(*instance, nullptr, &u));
    EXPECT_FALSE(find_utilization(*instance, &local, &u));
    EXPECT_FALSE(find_utilization(*instance, p + 16, &u));
    EXPECT_FALSE(find_utilization(*instance, p + kSize, &u)) << "its neighbour was never handed out";
    instance->free("test", p);
    instance->trim(0);
    EXPECT_FALSE(find_utilization(*instance, p, &u));
    EXPECT_EQ(u.block_bytes + u.superblock_blocks + u.move_helps, 9U) << "left as it was";
}

}  // namespace gr::utilization_test
