// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: sweeping: which pages under superblocks in use go back, and what happens meanwhile.
// Invariant: blocks in use keep what was written to them.
// Must not know: requests in bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "heap/acquire_run.hpp"
#include "heap/world.hpp"
#include "platform/memory.hpp"
#include "platform/reentry.hpp"

namespace gr::sweep_test {

using fake::World;

constexpr ClassIndex kClass = class_of(256);
constexpr std::size_t kSize = 256;

std::vector<void *> allocate(World &world, std::size_t count) {
    std::vector<void *> blocks;
    while (blocks.size() < count) {
        blocks.push_back(world.allocate_in(0, kClass));
        std::memset(blocks.back(), 0x5a, kSize);
    }
    std::sort(blocks.begin(), blocks.end());
    return blocks;
}

// Frees all blocks but those of each eighth page; what is kept.
std::vector<void *> free_seven_pages_of_eight(World &world, const std::vector<void *> &blocks) {
    std::vector<void *> kept;
    for (void *p : blocks) {
        if (reinterpret_cast<std::uintptr_t>(p) / platform::page_size() % 8 == 0) {
            kept.push_back(p);
        } else {
            world.free(p);
        }
    }
    return kept;
}

bool is_intact(const void *p) {
    const auto *const bytes = static_cast<const unsigned char *>(p);
    return std::all_of(bytes, bytes + kSize, [](unsigned char byte) { return byte == 0x5a; });
}

std::size_t purged_bytes() {
    std::size_t total = 0;
    for (const fake::Range &range : fake::purged()) total += range.bytes;
    return total;
}

class Sweep : public testing::Test {
  protected:
    static constexpr std::size_t kSuperblocks = 32;
    // What is purged is then by sweeping: empty units may all stay.
    explicit Sweep(std::size_t retain = kGiB) : world_({.retain = retain}) {
        blocks_ = allocate(world_, kSuperblocks * shape_of(kClass).blocks);
    }
    void trim() {
        world_.heaps.reclaim();
        world_.heaps.sweep();
    }
    void end(const std::vector<void *> &kept) {
        ASSERT_TRUE(world_.is_valid());
        for (void *p : kept) {
            ASSERT_TRUE(is_intact(p));
            world_.free(p);
        }
        world_.heaps.reclaim();
        EXPECT_EQ(world_.pages.used_bytes(), 0U);
    }

    World world_;
    std::vector<void *> blocks_;
};

TEST_F(Sweep, GivesBackWholePagesOnce) {
    const std::vector<void *> kept = free_seven_pages_of_eight(world_, blocks_);
    trim();
    EXPECT_EQ(world_.heaps.swept_bytes(), purged_bytes());
    EXPECT_EQ(purged_bytes(), kSuperblocks * kUnitBytes / 8 * 7);
    const std::size_t calls = world_.heaps.sweep_calls();
    EXPECT_LE(calls, kSuperblocks * 2) << "neighbours go together";
    trim();
    EXPECT_EQ(world_.heaps.sweep_calls(), calls) << "what is gone went again";
    end(kept);
}

TEST_F(Sweep, WhatWasGivenBackIsHandedOutAgain) {
    std::vector<void *> kept = free_seven_pages_of_eight(world_, blocks_);
    trim();
    const std::size_t units = world_.pages.used_bytes();
    std::set<void *> seen(kept.begin(), kept.end());
    while (seen.size() < blocks_.size()) {
        void *const p = world_.allocate_in(0, kClass);
        ASSERT_TRUE(seen.insert(p).second) << "handed out twice";
        std::memset(p, 0x5a, kSize);
        kept.push_back(p);
    }
    EXPECT_LE(world_.pages.used_bytes(), units + kUnitBytes) << "not the same memory";
    // And goes back again.
    std::sort(kept.begin(), kept.end());
    kept = free_seven_pages_of_eight(world_, kept);
    const std::size_t before = world_.heaps.swept_bytes();
    trim();
    EXPECT_EQ(world_.heaps.swept_bytes(), before + kSuperblocks * kUnitBytes / 8 * 7);
    end(kept);
}

TEST_F(Sweep, WhatIsHandedOutMeanwhileIsNotWhatGoes) {
    std::vector<void *> kept = free_seven_pages_of_eight(world_, blocks_);
    std::vector<void *> meanwhile;
    const auto allocate_some = [&] {
        for (int i = 0; i < 20; ++i) {
            meanwhile.push_back(world_.allocate_in(1, kClass));
            std::memset(meanwhile.back(), 0x5a, kSize);
        }
    };
    fake::on_purge([&] {
        if (meanwhile.size() < 2000) std::thread(allocate_some).join();
    });
    trim();
    fake::on_purge(nullptr);
    ASSERT_GT(meanwhile.size(), 100U) << "the test tests nothing";
    for (void *p : meanwhile) EXPECT_TRUE(is_intact(p));
    kept.insert(kept.end(), meanwhile.begin(), meanwhile.end());
    EXPECT_EQ(std::set<void *>(kept.begin(), kept.end()).size(), kept.size()) << "handed out twice";
    end(kept);
}

TEST_F(Sweep, WhatTheKernelRefusesStaysAndIsTriedAgain) {
    const std::vector<void *> kept = free_seven_pages_of_eight(world_, blocks_);
    fake::fail(fake::Call::purge, 0);
    trim();
    EXPECT_EQ(world_.heaps.swept_bytes(), 0U);
    ASSERT_TRUE(world_.is_valid());
    fake::fail(fake::Call::purge, fake::kForever);
    trim();
    EXPECT_EQ(world_.heaps.swept_bytes(), kSuperblocks * kUnitBytes / 8 * 7);
    end(kept);
}

// Without being asked: what became free in the global heap goes when it is more than may stay.
class SweepByItself : public Sweep {
  protected:
    static constexpr std::size_t kRetain = kMiB / 2;
    SweepByItself() : Sweep(kRetain) {}

    // Blocks of other pages than each eighth, in the order of their addresses; those of each eighth are kept_.
    void free_until(std::size_t bytes) {
        for (; next_ < blocks_.size() && freed_ < bytes; ++next_) {
            void *const p = blocks_[next_];
            if (reinterpret_cast<std::uintptr_t>(p) / platform::page_size() % 8 == 0) continue;
            world_.free(p);
            freed_ += kSize;
        }
    }

    std::size_t next_ = 0, freed_ = 0;
};

TEST_F(SweepByItself, WhenMoreIsFreeThanMayStay) {
    free_until(kRetain / 2);
    EXPECT_EQ(world_.heaps.swept_bytes(), 0U) << "so little may stay";
    // What lies in magazines and in superblocks of heaps comes on top of what may stay.
    free_until(2 * kRetain + kMagazineBudget + kUnitBytes);
    EXPECT_GT(world_.heaps.swept_bytes(), kRetain / 2);
    EXPECT_EQ(world_.pages.absent_bytes(), world_.heaps.swept_bytes());
    EXPECT_TRUE(world_.is_valid());
}

TEST_F(SweepByItself, WhatStaysIsBounded) {
    for (std::size_t bytes = 0; next_ < blocks_.size(); bytes += kUnitBytes) {
        free_until(bytes);
        const std::size_t live = (blocks_.size() * kSize) - freed_;
        EXPECT_LE(world_.pages.present_bytes(), live + 3 * kRetain + kMagazineBudget) << bytes << " bytes freed";
    }
}

TEST_F(SweepByItself, WhatIsTakenAgainIsRegretted) {
    const std::size_t at_first = world_.pages.may_stay();
    std::vector<void *> kept = blocks_;
    for (int round = 0; round < 8; ++round) {
        const std::size_t all = kept.size();
        kept = free_seven_pages_of_eight(world_, kept);
        while (kept.size() < all) {
            kept.push_back(world_.allocate_in(0, kClass));
            std::memset(kept.back(), 0x5a, kSize);
        }
        std::sort(kept.begin(), kept.end());
    }
    EXPECT_GT(world_.heaps.swept_bytes(), 0U) << "the test tests nothing";
    EXPECT_EQ(world_.pages.purged_bytes(), 0U) << "the regret could be another's";
    EXPECT_GT(world_.pages.may_stay(), at_first);
}

// What may stay falls with what is present.
TEST(SweepOfALargeHeap, EmptyUnitsGoWithTheShareOfWhatHasGone) {
    World world({.chunks = 64, .retain = kUnitBytes});
    std::vector<void *> kept = allocate(world, 512 * shape_of(kClass).blocks);
    std::vector<Superblock *> empty;
    for (std::size_t bytes = kUnitBytes; bytes < world.pages.may_stay() / 2; bytes += kUnitBytes)
        empty.push_back(fake::acquire_run(world.heaps.store(), world.superblocks, 1));
    for (Superblock *unit : empty) ASSERT_TRUE(world.heaps.store().release_run(unit));
    const std::size_t retained = world.pages.retained_bytes();
    ASSERT_GE(retained, empty.size() * kUnitBytes);
    kept = free_seven_pages_of_eight(world, kept);
    ASSERT_LT(world.pages.may_retain(), retained) << "the test tests nothing";
    world.heaps.sweep();
    EXPECT_LE(world.pages.retained_bytes(), world.pages.may_retain());
    for (void *p : kept) world.free(p);
}

TEST(SweepOfALargeHeap, EmptyUnitsThatTheReuseAllowanceCoversStay) {
    World world({.chunks = 64, .retain = kUnitBytes});
    const std::vector<void *> kept = allocate(world, 512 * shape_of(kClass).blocks);
    world.pages.expect_reuse(kGiB);
    const auto units =
        static_cast<std::uint32_t>(2 * world.pages.allowance().base(world.pages.present_bytes()) / kUnitBytes);
    Superblock *const run = fake::acquire_run(world.heaps.store(), world.superblocks, units);
    ASSERT_TRUE(world.heaps.store().release_run(run));
    const std::size_t retained = world.pages.retained_bytes();
    ASSERT_GT(retained, world.pages.allowance().base(world.pages.present_bytes()));
    world.heaps.sweep();
    EXPECT_EQ(world.pages.retained_bytes(), retained);
    for (void *p : kept) world.free(p);
}

TEST_F(SweepByItself, NotInAHandlerThatInterruptedTheHeaps) {
    fake::on_purge([] { ADD_FAILURE() << "gave back inside"; });
    {
        const platform::Reentry entry;
        free_until(blocks_.size() * kSize);
    }
    fake::on_purge(nullptr);
    EXPECT_EQ(world_.heaps.swept_bytes(), 0U);
}

}  // namespace gr::sweep_test
