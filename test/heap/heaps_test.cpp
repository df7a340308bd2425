// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: heaps, step by step: where freed blocks go, which heap owns superblocks when, when they are given back, and
//    that every refusal of the kernel leaves a heap that works.
// Invariant: is_valid() after every step; at the end of each story nothing is left.
// Must not know: requests in bytes.
#include "heap/heaps.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "heap/acquire_run.hpp"
#include "heap/world.hpp"
#include "platform/reentry.hpp"

namespace gr::heaps_test {

using fake::Call;
using fake::World;

constexpr ClassIndex kClass = class_of(256);
const std::uint32_t kBlocks = shape_of(kClass).blocks;

std::vector<void *> allocate(World &world, std::uint32_t heap, ClassIndex c, std::size_t count) {
    std::vector<void *> blocks;
    while (blocks.size() < count) {
        void *const p = world.allocate_in(heap, c);
        EXPECT_NE(p, nullptr);
        if (p == nullptr) break;
        blocks.push_back(p);
    }
    return blocks;
}

// All blocks of some superblocks and no more: none of them lies in a magazine, no heap is half through one.
void expect_nothing_left(World &world) {
    world.heaps.reclaim();
    EXPECT_TRUE(world.is_valid());
    EXPECT_EQ(world.pages.used_bytes(), 0U);
    for (std::uint32_t i = 0; i < fake::kStripes; ++i) {
        for (std::uint32_t c = 1; c < kClassCount; ++c) {
            EXPECT_EQ(world.heap(i).bins[c].superblocks(), 0U);
            EXPECT_EQ(world.in_magazine(i, ClassIndex(c)), 0U);
        }
        EXPECT_FALSE(world.heap(i).pending.has_any());
        EXPECT_EQ(world.heap(i).remote_bytes.load(), 0U);
    }
}

TEST(Heaps, BlocksOfEveryClassAreDistinctAndWritable) {
    World world;
    std::vector<std::pair<char *, std::size_t>> blocks;
    for (std::uint32_t c = 1; c < kClassCount; ++c) {
        for (int i = 0; i < 20; ++i) {
            char *const p = static_cast<char *>(world.heaps.allocate(ClassIndex(c)));
            ASSERT_NE(p, nullptr);
            ASSERT_EQ(class_in(world.entry(p)).value, c);
            std::memset(p, static_cast<int>(c), shape_of(ClassIndex(c)).size);
            blocks.emplace_back(p, shape_of(ClassIndex(c)).size);
        }
    }
    EXPECT_TRUE(world.is_valid());
    for (const auto &[p, size] : blocks) {
        EXPECT_EQ(p[0], p[size - 1]);
        EXPECT_EQ(std::memcmp(p, p + 1, size - 1), 0) << "overlaps another block";
        world.free(p);
    }
    EXPECT_TRUE(world.is_valid());
    expect_nothing_left(world);
}

TEST(Heaps, AFreedBlockComesBackFirst) {
    World world;
    void *const p = world.allocate_in(0, kClass);
    world.free(p);
    EXPECT_FALSE(world.is_free(p)) << "it lies in the magazine, not in the bitmap";
    EXPECT_EQ(world.allocate_in(0, kClass), p);
    world.free(p);
    expect_nothing_left(world);
}

TEST(Heaps, AMagazineThatBecomesWideTakesItsBlocksAlong) {
    World world;
    const std::vector<void *> blocks = allocate(world, 0, kClass, kMagazineNarrowSlots + 1);
    const std::uint32_t cached = world.in_magazine(0, kClass);
    for (void *const p : blocks) world.free(p);
    ASSERT_EQ(world.in_magazine(0, kClass), cached + blocks.size()) << "nothing was flushed";
    for (std::size_t i = blocks.size(); i-- != 0;) EXPECT_EQ(world.allocate_in(0, kClass), blocks[i]);
    EXPECT_EQ(world.in_magazine(0, kClass), cached);
    for (void *const p : blocks) world.free(p);
    expect_nothing_left(world);
}

// Another class asks for more than the budget has, until the quiet one's share is halved and halved again.
TEST(Heaps, AMagazineThatBecomesNarrowKeepsWhatFits) {
    constexpr ClassIndex kQuiet(8);
    constexpr ClassIndex kBusy(kFineClasses);
    World world({.budget = 16 * kKiB});
    const std::vector<void *> blocks = allocate(world, 0, kQuiet, kMagazineNarrowSlots * 2);
    for (void *const p : blocks) world.free(p);
    ASSERT_GT(world.in_magazine(0, kQuiet), kMagazineNarrowSlots);
    std::vector<void *> others;
    while (others.size() < kDenialsForMore && world.in_magazine(0, kQuiet) > kMagazineNarrowSlots) {
        others.push_back(world.allocate_in(0, kBusy));
    }
    const std::uint32_t narrow = world.in_magazine(0, kQuiet);
    EXPECT_GT(narrow, 0U);
    EXPECT_LE(narrow, kMagazineNarrowSlots);
    EXPECT_TRUE(world.is_valid());
    std::set<void *> again;
    for (std::uint32_t i = 0; i < narrow; ++i) again.insert(world.allocate_in(0, kQuiet));
    EXPECT_EQ(again.size(), narrow);
    for (void *const p : again) EXPECT_EQ(world.superblock_of(p)->size_class, kQuiet);
    for (void *const p : again) world.free(p);
    for (void *const p : others) world.free(p);
    expect_nothing_left(world);
}

TEST(Heaps, ABusyOwnersBlockIsFreedByItsBitAndCollectedLater) {
    World world;
    std::vector<void *> blocks = allocate(world, 0, kClass, kBlocks);
    EXPECT_EQ(world.owner_of(blocks[0]), owner_of_heap(0));
    const std::uint32_t cached = world.in_magazine(0, kClass);
    Superblock *const s = world.superblock_of(blocks[7]);
    world.free_remotely(blocks[7]);
    EXPECT_EQ(world.superblocks.remote_count(s), 1U);
    EXPECT_TRUE(world.heap(0).pending.has_any());
    EXPECT_EQ(world.in_magazine(0, kClass), cached);
    EXPECT_TRUE(world.is_valid());
    // The next slow path on the owner collects it; here the one that finds magazine and superblock used up.
    std::set<void *> again;
    for (std::uint32_t i = 0; i < 2 * kBlocks && again.count(blocks[7]) == 0; ++i)
        again.insert(world.allocate_in(0, kClass));
    EXPECT_EQ(again.count(blocks[7]), 1U) << "the block was forgotten";
    EXPECT_EQ(world.superblocks.remote_count(s), 0U);
    EXPECT_EQ(s->mark.load(), 0U);
    blocks[7] = blocks.back();
    blocks.pop_back();
    for (void *p : blocks) world.free(p);
    for (void *p : again) world.free(p);
    expect_nothing_left(world);
}

TEST(Heaps, AnUnlockBringsWhatCameInTheMeantime) {
    World world;
    const std::vector<void *> blocks = allocate(world, 0, kClass, 2);
    world.free_remotely(blocks[0]);
    ASSERT_TRUE(world.heap(0).pending.has_any());
    world.free(blocks[1]);  // takes and lets go of the lock of heap 0
    EXPECT_FALSE(world.heap(0).pending.has_any());
    EXPECT_TRUE(world.superblocks.is_free(world.superblock_of(blocks[0]), world.superblocks.find(blocks[0]).index));
    expect_nothing_left(world);
}

// Hoard's invariant: what a heap does not need goes to the global heap, from where another heap takes it.
TEST(Heaps, EmptierSuperblocksGoToTheGlobalHeapAndToWhoNeedsThem) {
    World world;
    const std::vector<void *> blocks = allocate(world, 0, kClass, std::size_t{8} * kBlocks);
    std::vector<void *> kept;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (i % 8 == 0) {
            kept.push_back(blocks[i]);
        } else {
            world.free(blocks[i]);
        }
        ASSERT_TRUE(i % 64 != 0 || world.is_valid());
    }
    GlobalBin &global = world.global(kClass);
    ASSERT_GT(global.bin.superblocks(), 0U);
    EXPECT_EQ(global.offered.load(), global.bin.superblocks());
    std::uint32_t global_owned = 0;
    for (void *p : kept) {
        EXPECT_EQ(owner_in(world.entry(p)), world.owner_of(p)) << "map and descriptor disagree";
        if (world.owner_of(p) == owner_of_global(kClass)) ++global_owned;
    }
    EXPECT_GT(global_owned, 0U);
    const std::size_t used = world.pages.used_bytes();
    const std::uint32_t offered = global.offered.load();
    const std::vector<void *> others = allocate(world, 1, kClass, kBlocks / 2);
    EXPECT_EQ(world.pages.used_bytes(), used) << "the global heap's superblocks were passed over";
    EXPECT_LT(global.offered.load(), offered);
    EXPECT_EQ(world.owner_of(others[0]), owner_of_heap(1));
    for (void *p : kept) world.free(p);
    for (void *p : others) world.free(p);
    expect_nothing_left(world);
}

// No thread refills from the global heap's stack, so a thread that frees there collects, and an empty superblock goes
// back.
TEST(Heaps, FreesToTheGlobalHeapAreCollectedAtOnce) {
    World world;
    const std::vector<void *> blocks = allocate(world, 0, kClass, std::size_t{8} * kBlocks);
    const std::vector<void *> kept = world.free_seven_of_eight(blocks);
    ASSERT_GT(world.global(kClass).bin.superblocks(), 0U);
    for (void *p : kept) {
        const bool global = world.owner_of(p) == owner_of_global(kClass);
        Superblock *const s = world.superblock_of(p);
        world.free(p);
        if (global && s->use == UnitUse::superblock) {
            ASSERT_EQ(world.superblocks.remote_count(s), 0U);
        }
        ASSERT_FALSE(world.global(kClass).pending.has_any());
        ASSERT_TRUE(world.is_valid());
    }
    expect_nothing_left(world);  // some blocks were still in heap 0's magazine
    EXPECT_EQ(world.global(kClass).bin.superblocks(), 0U) << "empty ones stay in the global heap";
}

TEST(Heaps, EmptySuperblocksServeOtherClasses) {
    World world;
    for (std::uint32_t c = 1; c < kClassCount; ++c) {
        const ClassIndex here(c);
        const std::vector<void *> blocks =
            allocate(world, c % fake::kStripes, here, std::size_t{2} * shape_of(here).blocks + 1);
        for (void *p : blocks) world.free(p);
        ASSERT_TRUE(world.is_valid());
        world.heaps.reclaim();
        ASSERT_EQ(world.pages.used_bytes(), 0U) << "class " << c;
    }
}

// A page or two of a class that is hardly used must not pin a unit that is resident already.
TEST(Heaps, TheFirstSuperblockOfASmallClassLeavesWarmUnitsToOthers) {
    constexpr ClassIndex kSmall(2);  // the world itself has used the first
    World world;
    for (void *const p : allocate(world, 0, ClassIndex(kClassCount - 1), 4)) world.free(p);
    world.heaps.reclaim();
    const std::size_t warm = world.pages.retained_bytes();
    ASSERT_GT(warm, 0U);
    world.free(world.allocate_in(0, kSmall));
    EXPECT_EQ(world.pages.retained_bytes(), warm);
    world.heaps.reclaim();
    const std::size_t more = world.pages.retained_bytes();
    ASSERT_GT(more, 0U);
    world.free(world.allocate_in(0, kSmall));
    EXPECT_LT(world.pages.retained_bytes(), more) << "it was used before, and is worth a warm one";
}

constexpr platform::Rank kRanks[] = {platform::Rank::activation, platform::Rank::heap, platform::Rank::global_bin,
                                     platform::Rank::nobody};

// All locks are the caller's own, as between fork's handlers: it gets no block but can free one, and nothing is lost.
TEST(Heaps, AHolderOfEveryLockIsRefusedAndMayStillFree) {
    World world;
    std::vector<void *> blocks;
    for (std::uint32_t i = 0; i < fake::kStripes; ++i) blocks.push_back(world.allocate_in(i, kClass));
    for (const platform::Rank rank : kRanks) world.heaps.lock_all(rank);
    for (std::uint32_t i = 0; i < fake::kStripes; ++i) EXPECT_TRUE(world.heap(i).mutex.held_by_me());
    for (std::uint32_t c = 1; c < kClassCount; ++c) EXPECT_TRUE(world.global(ClassIndex(c)).mutex.held_by_me());
    EXPECT_EQ(world.heaps.allocate(kClass), nullptr);
    for (void *p : blocks) world.free(p);
    for (const platform::Rank rank : kRanks) world.heaps.unlock_all(rank);
    world.heaps.settle_all();
    for (std::uint32_t i = 0; i < fake::kStripes; ++i) EXPECT_FALSE(world.heap(i).mutex.is_held());
    expect_nothing_left(world);
}

// A handler that interrupted the heaps takes from magazines that are free, and frees by bits.
TEST(Heaps, AHandlerThatInterruptedTheHeapsNeverWaits) {
    World world;
    const std::vector<void *> blocks = allocate(world, 0, kClass, 4);
    const std::uint32_t cached = world.in_magazine(0, kClass);
    ASSERT_GT(cached, 0U);
    Superblock *const s = world.superblock_of(blocks[0]);
    {
        const platform::Reentry interrupted;
        world.free(blocks[0]);
        EXPECT_EQ(world.superblocks.remote_count(s), 1U);
        EXPECT_EQ(world.in_magazine(0, kClass), cached);
        for (std::uint32_t i = 0; i < fake::kStripes; ++i) world.hold(i);
        EXPECT_EQ(world.heaps.allocate(kClass), nullptr);
        for (std::uint32_t i = 0; i < fake::kStripes; ++i) world.let_go(i);
        void *const p = world.allocate_in(0, kClass);
        EXPECT_NE(p, nullptr);
        EXPECT_EQ(world.in_magazine(0, kClass), cached - 1);
        world.free(p);
    }
    for (std::size_t i = 1; i < blocks.size(); ++i) world.free(blocks[i]);
    expect_nothing_left(world);
}

// A thread that holds a heap's lock is inside, also while it reclaims: else a handler that comes in then would wait for
// another heap, whose holder may wait for this one.
TEST(Heaps, AHandlerThatInterruptsAReclaimKnowsIt) {
    World world({.retain = 0});
    const std::vector<void *> blocks = allocate(world, 0, kClass, std::size_t{4} * kBlocks);
    for (void *p : blocks) world.free(p);
    unsigned interrupted = 0;
    unsigned unaware = 0;
    fake::on_purge([&] {
        if (!world.heap(0).mutex.held_by_me()) return;
        ++interrupted;
        const platform::Reentry handler;
        if (!handler.again()) ++unaware;
    });
    world.heaps.reclaim();
    EXPECT_GT(interrupted, 0U);
    EXPECT_EQ(unaware, 0U);
}

TEST(Heaps, AReclaimReleasesWhatHandlersCouldNot) {
    World world;
    const std::size_t used = world.pages.used_bytes();
    Superblock *const run = fake::acquire_run(world.heaps.store(), world.superblocks, 3);
    {
        const platform::Reentry interrupted;
        ASSERT_TRUE(world.heaps.store().release_run(run));
    }
    ASSERT_GT(world.pages.used_bytes(), used);
    world.heaps.reclaim();
    EXPECT_EQ(world.pages.used_bytes(), used);
}

TEST(Heaps, AFullRegionRefusesAndRecovers) {
    for (const std::uint32_t c : {1U, 40U, 64U, 80U, kClassCount - 1}) {
        World world({.chunks = 2});
        std::vector<void *> blocks;
        while (void *const p = world.heaps.allocate(ClassIndex(c))) blocks.push_back(p);
        EXPECT_GT(blocks.size() * shape_of(ClassIndex(c)).size, 3 * kMiB);
        EXPECT_TRUE(world.is_valid());
        EXPECT_EQ(world.heaps.allocate(ClassIndex(c == 1 ? 90 : 1)), nullptr);
        world.free(blocks.back());
        EXPECT_EQ(world.heaps.allocate(ClassIndex(c)), blocks.back());
        for (void *p : blocks) world.free(p);
        expect_nothing_left(world);
    }
}

// Whatever is free in a bitmap serves every heap before a request is refused.
TEST(Heaps, WhenMemoryIsUsedUpHeapsTakeFromEachOther) {
    World world({.chunks = 2});
    std::vector<void *> blocks;
    while (void *const p = world.allocate_in(0, kClass)) blocks.push_back(p);
    for (std::size_t i = 0; i < std::size_t{4} * kBlocks; i += 2) world.free(std::exchange(blocks[i], nullptr));
    ASSERT_GT(world.heap(0).bins[kClass.value].free_blocks(), 0U);
    for (std::uint32_t i = 0; i < fake::kStripes; ++i) {
        void *p = nullptr;
        std::thread([&] { p = world.heaps.allocate(kClass); }).join();
        EXPECT_NE(p, nullptr);
        EXPECT_TRUE(world.is_valid());
        blocks.push_back(p);
    }
    for (void *const p : blocks) {
        if (p != nullptr) world.free(p);
    }
    expect_nothing_left(world);
}

// The n-th commit from now fails, and those with which the region and the heap try again, for every n that matters: the
// heap stays valid, and what was live stays so.
TEST(Heaps, EveryRefusedCommitLeavesAWorkingHeap) {
    for (unsigned n = 0; n < 40; ++n) {
        World world({.chunks = 32});
        fake::fail(Call::commit, n, 4);
        std::vector<char *> blocks;
        unsigned refusals = 0;
        for (std::uint32_t i = 0; i < 1500; ++i) {
            char *const p = static_cast<char *>(world.allocate_in(i % 3, ClassIndex(60 + i % 40)));
            if (p == nullptr) {
                ++refusals;
                ASSERT_TRUE(world.is_valid()) << "refusal " << n;
                continue;
            }
            *p = static_cast<char>(i);
            blocks.push_back(p);
        }
        ASSERT_LE(refusals, 2U);
        for (char *p : blocks) world.free(p);
        expect_nothing_left(world);
        if (refusals == 0) {
            ASSERT_GT(n, 3U) << "no commit ever failed";
            break;
        }
    }
}

TEST(Heaps, RefusedPurgesLoseNothing) {
    World world({.retain = 0});
    fake::fail(Call::purge, 1);
    for (int round = 0; round < 3; ++round) {
        for (void *p : allocate(world, 0, ClassIndex(90), 400)) {
            void *const q = world.allocate_in(1, ClassIndex(90));
            std::memset(q, 1, 200);
            world.free(p);
            world.free(q);
        }
        ASSERT_TRUE(world.is_valid());
    }
    expect_nothing_left(world);
    EXPECT_GT(world.pages.retained_bytes(), 0U);
}

// Runs a story that may crash in a process of its own.
template <class Story>
void expect_to_survive(Story story) {
    EXPECT_EXIT(
        {
            alarm(10);  // a heap that is led astray may also hang
            story();
            _exit(testing::Test::HasFailure() ? 1 : 0);
        },
        testing::ExitedWithCode(0), "");
}

// An instance knows nothing of another: what a thread remembers of the one must not lead it astray in the other.
TEST(HeapsDeathTest, InstancesOfDifferentSizesServeTheSameThread) {
    expect_to_survive([] {
        World large({.stripes = 8});
        World small({.stripes = 1});
        const auto use_both = [&] {
            void *const p = large.heaps.allocate(kClass);
            void *const q = small.heaps.allocate(kClass);
            EXPECT_EQ(small.owner_of(q), owner_of_heap(0));
            large.free(p);
            small.free(q);
        };
        for (int i = 0; i < 8; ++i) std::thread(use_both).join();
        EXPECT_TRUE(large.is_valid());
        EXPECT_TRUE(small.is_valid());
    });
}

// A signal handler that interrupts the holder of one heap's lock may be the first that needs another heap: it must
// not wait for a lock that comes before those its thread holds.
TEST(HeapsDeathTest, AHandlerMayBeTheFirstToUseAHeap) {
    expect_to_survive([] {
        World world({.stripes = 4, .activate = false});
        const platform::Reentry interrupted;
        world.hold(0);
        void *const p = world.heaps.allocate(kClass);
        if (p != nullptr) world.free(p);
        world.let_go(0);
        EXPECT_TRUE(world.is_valid());
    });
}

}  // namespace gr::heaps_test
