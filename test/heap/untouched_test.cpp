// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: no byte of a block is read or written by allocating, freeing, refilling, flushing, collecting or giving back.
// Invariant: every unit is inaccessible all the time; a single touch ends the test with a signal.
// Must not know: requests in bytes.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "heap/acquire_run.hpp"
#include "heap/world.hpp"

namespace gr::untouched_test {

using fake::World;

TEST(Untouched, TheUnitsReallyCannotBeTouched) {
    World world;
    world.forbid_blocks();
    char *const p = static_cast<char *>(world.heaps.allocate(ClassIndex(1)));
    ASSERT_NE(p, nullptr);
    EXPECT_DEATH(*static_cast<volatile char *>(p) = 1, "");
    EXPECT_DEATH(static_cast<void>(*static_cast<volatile char *>(p)), "");
}

TEST(Untouched, EveryClassThroughEveryPath) {
    World world({.chunks = 32, .retain = 0});
    world.forbid_blocks();
    std::mt19937 random{1};
    std::vector<void *> blocks;
    std::size_t freed = 0;
    for (std::uint32_t round = 0; round < 12; ++round) {
        for (std::uint32_t c = 1; c < kClassCount; ++c) {
            const std::size_t count = c < 70 ? 120 : 6;
            for (std::size_t i = 0; i < count; ++i) {
                void *const p = world.allocate_in(static_cast<std::uint32_t>(random() % fake::kStripes), ClassIndex(c));
                ASSERT_NE(p, nullptr);
                blocks.push_back(p);
            }
        }
        // Most go back, some into magazines, some by remote bits: flushes, drains, the global heap, purges.
        while (blocks.size() > 1500) {
            std::swap(blocks[random() % blocks.size()], blocks.back());
            if (random() % 2 == 0)
                world.free(blocks.back());
            else
                world.free_remotely(blocks.back());
            blocks.pop_back();
            ++freed;
        }
        ASSERT_TRUE(world.is_valid());
        world.heaps.reclaim();
    }
    EXPECT_GT(freed, 50000U);
    EXPECT_GT(world.pages.purged_bytes(), 0U);
    for (void *p : blocks) world.free(p);
    world.heaps.reclaim();
    EXPECT_EQ(world.pages.used_bytes(), 0U);
}

TEST(Untouched, RunsToo) {
    World world({.chunks = 32, .retain = 0});
    world.forbid_blocks();
    for (std::uint32_t units = 1; units < 100; ++units) {
        Superblock *const run = fake::acquire_run(world.heaps.store(), world.superblocks, units, 4);
        ASSERT_NE(run, nullptr);
        ASSERT_TRUE(world.heaps.store().resize_run(run, UnitCount(units + 40)));
        ASSERT_TRUE(world.heaps.store().resize_run(run, UnitCount(1)));
        ASSERT_TRUE(world.heaps.store().release_run(run));
        ASSERT_TRUE(world.pages.is_valid());
    }
    EXPECT_EQ(world.pages.used_bytes(), 0U);
}

}  // namespace gr::untouched_test
