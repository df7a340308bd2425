// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which superblock belongs to which heap: new ones, empty ones, those that are too empty, and what held locks
//    leave undone.
// Invariant: blocks go straight from and to bitmaps here.
// Must not know: magazines, messages.
#include "heap/ownership.hpp"

#include "heap/parts.hpp"

namespace gr::ownership_test {

using fake::kHeapA;
using fake::kHeapB;

constexpr ClassIndex kClass = class_of(256);
constexpr OwnerIndex kGlobal = owner_of_global(kClass);

class OwnershipTest : public testing::Test {
  protected:
    void TearDown() override { EXPECT_TRUE(parts_.pages.is_valid()); }
    const Bin &bin(OwnerIndex o) const { return parts_.owners.bin_of(o, kClass); }
    OwnerIndex owner(const std::vector<void *> &blocks) const { return owner_of(parts_.superblock_of(blocks[0])); }
    UnitEntry entry(const void *p) const { return parts_.store.entry(parts_.region.unit_of(p)); }

    // The fullest superblock of heap A, whose lock is held.
    void hand_to(OwnerIndex to) {
        ASSERT_TRUE(parts_.owners.try_lock(to));
        ASSERT_NE(parts_.ownership.take_from(kHeapA, to, kClass), nullptr);
        parts_.remote.unlock_and_settle(to);
    }

    fake::Parts parts_;
    const std::uint32_t each_ = shape_of(kClass).blocks;
};

TEST_F(OwnershipTest, ANewSuperblockIsItsHeapsAndAnEmptyOneNobodys) {
    const std::vector<void *> blocks = parts_.take_all(kHeapA, kClass);
    Superblock *const s = parts_.superblock_of(blocks[0]);
    EXPECT_EQ(owner_of(s), kHeapA);
    EXPECT_EQ(entry(blocks[0]), entry_of(kHeapA, kClass));
    EXPECT_EQ(bin(kHeapA).superblocks(), 1U);
    EXPECT_EQ(parts_.pages.used_bytes(), shape_of(kClass).units * kUnitBytes);
    parts_.give_back(kHeapA, blocks, 0, each_ - 1);
    EXPECT_EQ(owner_of(s), kHeapA) << "one superblock may be as empty as it likes";
    parts_.give_back(kHeapA, blocks, each_ - 1, 1);
    EXPECT_EQ(owner_of(s), kNobody);
    EXPECT_EQ(entry(blocks[0]), 0U);
    EXPECT_EQ(bin(kHeapA).superblocks(), 0U);
    EXPECT_EQ(parts_.pages.used_bytes(), 0U);
}

TEST_F(OwnershipTest, WhatIsTooEmptyGoesToTheGlobalHeapAndFromThereToWhoAsks) {
    std::vector<std::vector<void *>> held;
    for (int i = 0; i < 3; ++i) held.push_back(parts_.take_all(kHeapA, kClass));
    for (const auto &blocks : held) parts_.give_back(kHeapA, blocks, 0, each_ / 2);
    EXPECT_TRUE(bin(kHeapA).keeps_hoards_invariant(kClass));
    ASSERT_GE(bin(kGlobal).superblocks(), 1U);
    EXPECT_EQ(parts_.owners.global(kClass).offered.load(), bin(kGlobal).superblocks());
    EXPECT_EQ(parts_.global_free.bytes(), bin(kGlobal).free_blocks() * shape_of(kClass).size);
    const std::uint32_t offered = bin(kGlobal).superblocks();
    parts_.holding(kHeapB, [&] {
        Superblock *const s = parts_.ownership.take_from_global(kHeapB, kClass, Foreign::take);
        ASSERT_NE(s, nullptr);
        EXPECT_EQ(owner_of(s), kHeapB);
        EXPECT_EQ(parts_.store.entry(s->unit), entry_of(kHeapB, kClass));
    });
    EXPECT_EQ(bin(kGlobal).superblocks(), offered - 1);
    EXPECT_EQ(bin(kHeapB).superblocks(), 1U);
    EXPECT_EQ(parts_.global_free.bytes(), bin(kGlobal).free_blocks() * shape_of(kClass).size);
}

// Of three superblocks of each heap, half of the blocks are free, so each heap gave some to the global heap.
TEST_F(OwnershipTest, AHeapTakesFromTheGlobalHeapWhatItGaveItselfFirst) {
    for (const OwnerIndex heap : {kHeapA, kHeapB}) {
        std::vector<std::vector<void *>> held;
        for (int i = 0; i < 3; ++i) held.push_back(parts_.take_all(heap, kClass));
        for (const auto &blocks : held) parts_.give_back(heap, blocks, 0, each_ / 2);
    }
    std::vector<Superblock *> given_by_a;
    for (std::uint32_t u = 0; u < parts_.pages.used_bytes() / kUnitBytes; ++u) {
        Superblock *const s = parts_.superblocks.descriptor(parts_.region.first_unit() + UnitCount(u));
        if (owner_of(s) == kGlobal && s->use == UnitUse::superblock && u < 3 * shape_of(kClass).units)
            given_by_a.push_back(s);
    }
    ASSERT_FALSE(given_by_a.empty());
    ASSERT_LT(given_by_a.size(), bin(kGlobal).superblocks());
    for (std::size_t i = 0; i < given_by_a.size(); ++i) {
        parts_.holding(kHeapA, [&] {
            Superblock *const s = parts_.ownership.take_from_global(kHeapA, kClass, Foreign::leave_few);
            EXPECT_TRUE(std::ranges::find(given_by_a, s) != given_by_a.end());
        });
    }
    parts_.holding(kHeapA, [&] {
        EXPECT_EQ(parts_.ownership.take_from_global(kHeapA, kClass, Foreign::leave_few), nullptr);
        EXPECT_NE(parts_.ownership.take_from_global(kHeapA, kClass, Foreign::take), nullptr);
    });
}

// A purge counts the blocks of free pages as used while it returns these pages.
TEST_F(OwnershipTest, ASuperblockWithoutFreeBlocksIsNotTakenFromTheGlobalHeap) {
    std::vector<std::vector<void *>> held;
    for (int i = 0; i < 3; ++i) held.push_back(parts_.take_all(kHeapA, kClass));
    for (const auto &blocks : held) parts_.give_back(kHeapA, blocks, 0, each_ / 2);
    ASSERT_EQ(bin(kGlobal).superblocks(), 1U);
    Superblock *given = nullptr;
    for (const auto &blocks : held)
        if (owner(blocks) == kGlobal) given = parts_.superblock_of(blocks[0]);
    ASSERT_NE(given, nullptr);
    std::vector<void *> free_blocks(given->free_count);
    parts_.holding(kGlobal, [&] {
        ASSERT_EQ(parts_.superblocks.take(given, free_blocks), free_blocks.size());
        parts_.ownership.took(kGlobal, given, static_cast<std::uint32_t>(free_blocks.size()));
    });
    parts_.holding(kHeapA,
                   [&] { EXPECT_EQ(parts_.ownership.take_from_global(kHeapA, kClass, Foreign::take), nullptr); });
    parts_.give_back(kHeapA, free_blocks, 0, free_blocks.size());
    parts_.holding(kHeapA, [&] { EXPECT_EQ(parts_.ownership.take_from_global(kHeapA, kClass, Foreign::take), given); });
}

TEST_F(OwnershipTest, OnlyFewForeignSuperblocksAreLeft) {
    const std::uint32_t few = kForeignSuperblocks * parts_.owners.active_heaps();
    std::vector<std::vector<void *>> held;
    for (std::uint32_t i = 0; i < 2 * few + 4; ++i) held.push_back(parts_.take_all(kHeapA, kClass));
    for (const auto &blocks : held) parts_.give_back(kHeapA, blocks, 0, each_ - 1);
    const std::uint32_t offered = bin(kGlobal).superblocks();
    ASSERT_GT(offered, few);
    parts_.holding(kHeapB, [&] {
        for (std::uint32_t i = 0; i < offered - few; ++i)
            ASSERT_NE(parts_.ownership.take_from_global(kHeapB, kClass, Foreign::leave_few), nullptr);
        EXPECT_EQ(parts_.ownership.take_from_global(kHeapB, kClass, Foreign::leave_few), nullptr);
    });
    EXPECT_EQ(bin(kGlobal).superblocks(), few);
}

TEST_F(OwnershipTest, WhatAHeldLockLeavesUndoneIsExcessUntilAHeapNeedsIt) {
    std::vector<std::vector<void *>> held;
    for (int i = 0; i < 3; ++i) held.push_back(parts_.take_all(kHeapA, kClass));
    parts_.while_held_elsewhere(kGlobal, [&] {
        parts_.holding(kHeapA, [&] {
            for (const auto &blocks : held) parts_.returns.give_back(kHeapA, blocks.data(), each_ / 2);
        });
        EXPECT_EQ(bin(kGlobal).superblocks(), 0U);
        EXPECT_FALSE(bin(kHeapA).keeps_hoards_invariant(kClass));
        EXPECT_TRUE(parts_.owners.global(kClass).excess.load());
    });

    // A heap that is busy is asked again next time.
    parts_.while_held_elsewhere(kHeapA, [&] {
        parts_.holding(kHeapB,
                       [&] { EXPECT_EQ(parts_.ownership.collect_excess(kHeapB, kClass, Foreign::take), nullptr); });
    });
    EXPECT_TRUE(parts_.owners.global(kClass).excess.load());

    parts_.holding(kHeapB, [&] { EXPECT_NE(parts_.ownership.collect_excess(kHeapB, kClass, Foreign::take), nullptr); });
    EXPECT_TRUE(bin(kHeapA).keeps_hoards_invariant(kClass));
    EXPECT_FALSE(parts_.owners.global(kClass).excess.load());
    EXPECT_EQ(bin(kHeapB).superblocks(), 1U);
}

TEST_F(OwnershipTest, WhoLosesItsFullestKeepsTheInvariant) {
    std::vector<std::vector<void *>> held;
    for (int i = 0; i < 8; ++i) held.push_back(parts_.take_all(kHeapA, kClass));
    parts_.give_back(kHeapA, held[0], 0, 1);
    // As much as the invariant allows with the others.
    parts_.give_back(kHeapA, held[1], 0, each_ - 1);
    parts_.give_back(kHeapA, held[2], 0, each_ - 2);
    ASSERT_TRUE(bin(kHeapA).keeps_hoards_invariant(kClass));
    Superblock *taken = nullptr;
    for (int i = 0; i < 2; ++i) {
        parts_.holding(kHeapA, [&] {
            ASSERT_TRUE(parts_.owners.try_lock(kHeapB));
            taken = parts_.ownership.take_from(kHeapA, kHeapB, kClass);
            parts_.remote.unlock_and_settle(kHeapB);
        });
        ASSERT_NE(taken, nullptr);
        EXPECT_EQ(owner_of(taken), kHeapB);
        EXPECT_TRUE(bin(kHeapA).keeps_hoards_invariant(kClass));
    }
}

TEST_F(OwnershipTest, AVisitorMeetsASuperblockUnderItsOwnersLockOnly) {
    const std::vector<void *> blocks = parts_.take_all(kHeapB, kClass);
    Superblock *const s = parts_.superblock_of(blocks[0]);
    int visits = 0;
    const auto visit = [&](OwnerIndex o, const Superblock *met) {
        EXPECT_EQ(met, s);
        EXPECT_TRUE(parts_.owners.owner(o).mutex.held_by_me());
        ++visits;
    };
    parts_.ownership.visit_superblock(s->unit, visit);
    parts_.ownership.visit_superblock(s->unit + UnitCount(1), visit);
    EXPECT_EQ(visits, 1) << "behind it begins nothing";
    parts_.ownership.visit_owner(s, [&](OwnerIndex o) { visit(o, s); });
    EXPECT_EQ(visits, 2);
    parts_.give_back(kHeapB, blocks, 0, each_);
    parts_.ownership.visit_superblock(s->unit, visit);
    EXPECT_EQ(visits, 2) << "it is nobody's";
}

// Between the look at the entry and the lock a superblock may go to another heap, or to none.
TEST_F(OwnershipTest, AVisitorWhoWaitedDoesNotMeetWhatHasGone) {
    const std::vector<void *> blocks = parts_.take_all(kHeapA, kClass);
    Superblock *const s = parts_.superblock_of(blocks[0]);
    parts_.give_back(kHeapA, blocks, 0, 1);
    int visits = 0;
    const auto visit = [&] {
        parts_.ownership.visit_superblock(s->unit, [&](OwnerIndex, const Superblock *) { ++visits; });
    };
    parts_.while_waiting(kHeapA, visit, [&] { hand_to(kHeapB); });
    EXPECT_EQ(visits, 0);
    parts_.while_waiting(kHeapB, visit, [&] {
        parts_.returns.give_back(kHeapB, &blocks[1], each_ - 1);
        EXPECT_EQ(owner_of(s), kNobody);
    });
    EXPECT_EQ(visits, 0);
}

TEST_F(OwnershipTest, AVisitorOfAnOwnerWhoWaitedForTheLastOneGoesToTheNext) {
    const std::vector<void *> blocks = parts_.take_all(kHeapA, kClass);
    Superblock *const s = parts_.superblock_of(blocks[0]);
    parts_.give_back(kHeapA, blocks, 0, 1);
    std::vector<OwnerIndex> met;
    const auto visit = [&] { parts_.ownership.visit_owner(s, [&](OwnerIndex o) { met.push_back(o); }); };
    parts_.while_waiting(kHeapA, visit, [&] { hand_to(kHeapB); });
    EXPECT_EQ(met, std::vector<OwnerIndex>{kHeapB});
}

}  // namespace gr::ownership_test
