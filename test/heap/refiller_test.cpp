// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a refill takes first, where its blocks end up when the magazine has no room or may not be touched, and
//    which heaps it asks when memory is used up.
// Invariant: of the blocks that left a bitmap one is the caller's; each other one is in a magazine or free again.
// Must not know: which heap serves a thread.
#include "heap/refiller.hpp"

#include "heap/parts.hpp"
#include "heap/sweeper.hpp"

namespace gr::refiller_test {

using fake::kHeapA;
using fake::kHeapB;

constexpr ClassIndex kClass = class_of(256);
constexpr ClassIndex kOther = class_of(4096);

class RefillerTest : public testing::Test {
  protected:
    explicit RefillerTest(const fake::PartsSetup &setup = {}) : parts_(setup) {}

    void *refill(OwnerIndex o) {
        void *block = nullptr;
        parts_.holding(o, [&] { block = refiller_.refill(o, kClass); });
        return block;
    }
    const Bin &bin(OwnerIndex o) const { return parts_.owners.bin_of(o, kClass); }
    std::uint32_t cached(OwnerIndex o) const { return parts_.in_magazine(o, magazine_of(kClass)); }
    // Nothing more is to be had of the kernel.
    void use_memory_up() { parts_.pages.limit().initialise(MemoryLimit::kNone, parts_.pages.limit().held()); }

    fake::Parts parts_;
    Flusher flusher_{parts_.owners, parts_.remote, parts_.returns, parts_.messenger, parts_.capacities};
    Refiller refiller_{parts_.owners,     parts_.remote, parts_.ownership,   parts_.returns,
                       parts_.capacities, flusher_,      parts_.superblocks, parts_.pages};
    const std::uint32_t each_ = shape_of(kClass).blocks;
};

TEST_F(RefillerTest, OneBlockIsTheCallersAndOthersFillTheMagazine) {
    void *const block = refill(kHeapA);
    ASSERT_NE(block, nullptr);
    EXPECT_FALSE(parts_.is_free(block));
    EXPECT_GT(cached(kHeapA), 0U);
    EXPECT_EQ(bin(kHeapA).free_blocks(), each_ - 1 - cached(kHeapA));
    EXPECT_EQ(parts_.superblock_of(block)->free_count, bin(kHeapA).free_blocks());
}

// Another thread filled it meanwhile.
TEST_F(RefillerTest, WhatTheMagazineHasNoRoomForGoesBack) {
    const std::vector<void *> blocks = parts_.take_all(kHeapA, kClass);
    const std::vector<void *> more = parts_.take_all(kHeapA, kClass);
    ASSERT_EQ(parts_.fill(kHeapA, blocks), shape_of(kClass).magazine_slots);
    parts_.give_back(kHeapA, more, 0, each_ / 2);
    void *const block = refill(kHeapA);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(cached(kHeapA), shape_of(kClass).magazine_slots);
    EXPECT_EQ(bin(kHeapA).free_blocks(), each_ / 2 - 1) << "a block was lost";
}

TEST_F(RefillerTest, WhatWasFreedElsewhereComesBeforeAnyNewSuperblock) {
    const std::vector<void *> blocks = parts_.take_all(kHeapA, kClass);
    parts_.hold(kHeapA);
    parts_.returns.give_one("free", blocks[3], false);
    ASSERT_EQ(parts_.superblock_of(blocks[3])->free_count, 0U) << "it was collected already";
    EXPECT_EQ(refiller_.refill(kHeapA, kClass), blocks[3]);
    parts_.let_go(kHeapA);
    EXPECT_EQ(bin(kHeapA).superblocks(), 1U);
}

TEST_F(RefillerTest, WhatAMessageBroughtIsServedFromTheMagazine) {
    std::vector<void *> blocks = parts_.take_all(kHeapA, kClass);
    parts_.holding(kHeapA, [&] { ASSERT_TRUE(parts_.capacities.grow(kHeapA, kClass)); });
    parts_.holding(kHeapB, [&] { parts_.messenger.send(kHeapB, {blocks.data(), 3}); });
    void *const block = refill(kHeapA);
    EXPECT_TRUE(block == blocks[0] || block == blocks[1] || block == blocks[2]);
    EXPECT_EQ(cached(kHeapA), 2U);
    EXPECT_EQ(bin(kHeapA).free_blocks(), 0U) << "a bit was touched";
}

TEST_F(RefillerTest, ASuperblockIsOpenedForTheFirstBlockOnly) {
    const std::vector<void *> blocks = parts_.take_all(kHeapA, kClass);
    parts_.give_back(kHeapA, blocks, 7, 1);
    EXPECT_EQ(refill(kHeapA), blocks[7]);
    EXPECT_EQ(cached(kHeapA), 0U);
    EXPECT_EQ(bin(kHeapA).superblocks(), 1U);
    EXPECT_NE(refill(kHeapA), nullptr);
    EXPECT_EQ(bin(kHeapA).superblocks(), 2U);
}

TEST_F(RefillerTest, MemoryGrowsOnlyWhenNoHeapHoldsMoreThanItMay) {
    std::vector<std::vector<void *>> held;
    for (int i = 0; i < 3; ++i) held.push_back(parts_.take_all(kHeapA, kClass));
    parts_.holding(kHeapA, [&] {
        ASSERT_TRUE(parts_.owners.try_lock(owner_of_global(kClass)));
        for (const auto &blocks : held) parts_.returns.give_back(kHeapA, blocks.data(), each_ / 2);
        parts_.remote.unlock_and_settle(owner_of_global(kClass));
    });
    ASSERT_FALSE(bin(kHeapA).keeps_hoards_invariant(kClass));
    const std::size_t used = parts_.pages.used_bytes();
    EXPECT_NE(refill(kHeapB), nullptr);
    EXPECT_EQ(parts_.pages.used_bytes(), used);
    EXPECT_TRUE(bin(kHeapA).keeps_hoards_invariant(kClass));
}

// Half of the blocks in each superblock belong to threads of heap A, so heap B takes empty units if these are warm.
TEST_F(RefillerTest, WarmUnitsServeBeforeFewForeignSuperblocksAndColdOnesAfterThem) {
    std::vector<std::vector<void *>> held;
    for (int i = 0; i < 3; ++i) held.push_back(parts_.take_all(kHeapA, kClass));
    const std::vector<void *> warm = parts_.take_all(kHeapA, kOther);
    for (const auto &blocks : held) parts_.give_back(kHeapA, blocks, 0, each_ / 2);
    const OwnerIndex global = owner_of_global(kClass);
    const std::uint32_t offered = bin(global).superblocks();
    ASSERT_GT(offered, 0U);
    parts_.holding(kHeapB, [&] { ASSERT_TRUE(parts_.capacities.grow(kHeapB, kClass)); });
    parts_.give_back(kHeapA, warm, 0, warm.size());
    ASSERT_EQ(parts_.pages.retained_bytes(), kUnitBytes);
    ASSERT_NE(refill(kHeapB), nullptr);
    EXPECT_EQ(bin(global).superblocks(), offered);
    EXPECT_EQ(parts_.pages.retained_bytes(), 0U);
    while (bin(kHeapB).free_blocks() != 0) ASSERT_NE(refill(kHeapB), nullptr);
    ASSERT_NE(refill(kHeapB), nullptr);
    EXPECT_EQ(bin(global).superblocks(), offered - 1);
}

TEST_F(RefillerTest, InNeedItsOwnMagazinesServe) {
    ASSERT_EQ(parts_.fill(kHeapA, parts_.take_all(kHeapA, kOther)), shape_of(kOther).blocks);
    use_memory_up();
    EXPECT_NE(refill(kHeapA), nullptr);
}

TEST_F(RefillerTest, InNeedOtherHeapsMagazinesServe) {
    ASSERT_EQ(parts_.fill(kHeapB, parts_.take_all(kHeapB, kOther)), shape_of(kOther).blocks);
    use_memory_up();
    EXPECT_NE(refill(kHeapA), nullptr);
}

TEST_F(RefillerTest, InNeedAnotherHeapsFullestServesAndABusyOneIsNotWaitedFor) {
    const std::vector<void *> blocks = parts_.take_all(kHeapB, kClass);
    parts_.give_back(kHeapB, blocks, 0, 5);
    use_memory_up();
    parts_.while_held_elsewhere(kHeapB, [&] { EXPECT_EQ(refill(kHeapA), nullptr); });
    EXPECT_EQ(refill(kHeapA), blocks[0]);
    EXPECT_EQ(owner_of(parts_.superblock_of(blocks[0])), kHeapA);
}

TEST_F(RefillerTest, PagesThatWereGivenBackAreRegrettedWhenTheyAreTakenAgain) {
    const std::vector<void *> blocks = parts_.take_all(kHeapA, kClass);
    parts_.give_back(kHeapA, blocks, 0, each_ - 1);
    Sweeper sweeper(parts_.ownership, parts_.global_free, parts_.region, parts_.superblocks, parts_.pages);
    ASSERT_GT(sweeper.sweep(), 0U);
    const std::size_t absent = parts_.pages.absent_bytes();
    EXPECT_EQ(refill(kHeapA), blocks[0]);
    const std::size_t retaken = absent - parts_.pages.absent_bytes();
    EXPECT_GE(retaken, platform::page_size());
    EXPECT_EQ(parts_.pages.allowance().earned(), retaken);
}

class RefillerElsewhere : public RefillerTest {
  protected:
    void SetUp() override {
        if (!fake::has_rseq()) GTEST_SKIP() << "libc registers no rseq here";
    }
    RefillerElsewhere() : RefillerTest({.sequences = fake::has_rseq()}) {}
};

TEST_F(RefillerElsewhere, WhoMovedToAnotherCpuKeepsOneBlockAndGivesTheOthersBack) {
    const OwnerIndex far = parts_.last_heap();
    ASSERT_EQ(parts_.fill(far, parts_.take_all(far, kClass)), shape_of(kClass).magazine_slots);
    parts_.reference_slab(far).pop(magazine_of(kClass));
    const std::uint32_t before = cached(far);
    ASSERT_NE(refill(far), nullptr);
    EXPECT_EQ(cached(far), before) << "another's magazine was touched";
    EXPECT_EQ(bin(far).free_blocks(), each_ - 1) << "a block was lost";
}

}  // namespace gr::refiller_test
