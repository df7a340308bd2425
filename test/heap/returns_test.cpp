// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: freed blocks back to bitmaps, by each owner's way, with what is found wrong there; and that remote bits arrive.
// Invariant: a block that was given back is free or has its remote bit.
// Must not know: magazines, messages.
#include "heap/returns.hpp"

#include "heap/parts.hpp"
#include "heap/remote_batch.hpp"

namespace gr::returns_test {

using fake::kHeapA;
using fake::kHeapB;

constexpr ClassIndex kClass = class_of(256);
constexpr OwnerIndex kGlobal = owner_of_global(kClass);

class ReturnsTest : public testing::Test {
  protected:
    bool has_news(OwnerIndex o) const { return parts_.owners.owner(o).has_news(); }
    // Blocks of a superblock that the global heap owns.
    std::vector<void *> take_global() {
        std::vector<std::vector<void *>> held;
        for (int i = 0; i < 3; ++i) held.push_back(parts_.take_all(kHeapA, kClass));
        for (auto &blocks : held) parts_.give_back(kHeapA, blocks, 0, each_ / 2);
        for (auto &blocks : held) {
            blocks.erase(blocks.begin(), blocks.begin() + each_ / 2);
            if (owner_of(parts_.superblock_of(blocks[0])) == kGlobal) return blocks;
        }
        ADD_FAILURE() << "none went to the global heap";
        return {};
    }

    fake::Parts parts_;
    const std::uint32_t each_ = shape_of(kClass).blocks;
};

TEST_F(ReturnsTest, OwnBlocksAreFreeAtOnce) {
    const std::vector<void *> blocks = parts_.take_all(kHeapA, kClass);
    parts_.give_back(kHeapA, blocks, 3, 5);
    for (std::size_t i = 0; i < blocks.size(); ++i) EXPECT_EQ(parts_.is_free(blocks[i]), i >= 3 && i < 8) << i;
    EXPECT_EQ(parts_.owners.heap(kHeapA).bins[kClass.value].free_blocks(), 5U);
}

TEST_F(ReturnsTest, AnothersBlocksWaitForTheirOwner) {
    const std::vector<void *> own = parts_.take_all(kHeapB, kClass);
    const std::vector<void *> others = parts_.take_all(kHeapA, kClass);
    const std::vector<void *> mixed = {own[0], others[0], others[1], own[1]};
    parts_.give_back(kHeapB, mixed, 0, mixed.size());
    EXPECT_TRUE(parts_.is_free(own[0]) && parts_.is_free(own[1]));
    const Superblock *const s = parts_.superblock_of(others[0]);
    EXPECT_EQ(s->free_count, 0U) << "a stranger sets no bit of an owner's";
    EXPECT_TRUE(has_news(kHeapA));
    parts_.remote.settle(kHeapA);
    EXPECT_FALSE(has_news(kHeapA));
    EXPECT_EQ(s->free_count, 2U);
}

TEST_F(ReturnsTest, ASettlingThatFindsTheLockTakenReliesOnItsHolder) {
    const std::vector<void *> blocks = parts_.take_all(kHeapA, kClass);
    const Superblock *const s = parts_.superblock_of(blocks[0]);
    ASSERT_TRUE(parts_.owners.try_lock(kHeapA));
    parts_.returns.give_one("free", blocks[0], false);
    parts_.remote.settle(kHeapA);
    EXPECT_TRUE(has_news(kHeapA));
    EXPECT_EQ(s->free_count, 0U);
    parts_.remote.unlock_and_settle(kHeapA);
    EXPECT_FALSE(has_news(kHeapA));
    EXPECT_EQ(s->free_count, 1U);
}

// Rule 6.
TEST_F(ReturnsTest, AnIdleOwnerIsDrainedWhenTooMuchWaitsButNotFromADrain) {
    const std::vector<void *> blocks = parts_.take_all(kHeapA, kClass);
    const Superblock *const s = parts_.superblock_of(blocks[0]);
    parts_.returns.give_one("free", blocks[0], false);
    parts_.remote.note(kHeapA, kRemoteThreshold, MayWait::no);
    EXPECT_EQ(s->free_count, 0U);
    parts_.returns.give_one("free", blocks[1], false);
    EXPECT_EQ(s->free_count, 2U);
    EXPECT_EQ(parts_.owners.owner(kHeapA).remote_bytes.load(), 0U) << "what waits was counted anew";
    parts_.remote.note(kHeapA, kRemoteThreshold, MayWait::yes);
    EXPECT_EQ(parts_.owners.owner(kHeapA).remote_bytes.load(), kRemoteThreshold) << "not yet beyond it";
}

TEST_F(ReturnsTest, TheGlobalHeapsBlocksAreGivenUnderItsLock) {
    const std::vector<void *> blocks = take_global();
    ASSERT_GE(blocks.size(), 4U);
    const std::size_t global_free = parts_.global_free.bytes();
    parts_.give_back(kHeapB, blocks, 0, 2);
    EXPECT_TRUE(parts_.is_free(blocks[0]) && parts_.is_free(blocks[1]));
    EXPECT_EQ(parts_.global_free.bytes(), global_free + 2 * shape_of(kClass).size);
    parts_.returns.give_one("free", blocks[2], false);
    EXPECT_TRUE(parts_.is_free(blocks[2]));

    // A drain does not wait for a held lock: it frees by bits, which the holder collects.
    ASSERT_TRUE(parts_.owners.try_lock(kGlobal));
    const Superblock *const s = parts_.superblock_of(blocks[3]);
    const std::uint32_t before = s->free_count;
    ASSERT_TRUE(parts_.owners.try_lock(kHeapB));
    parts_.returns.give_back(kHeapB, &blocks[3], 1, MayWait::no);
    EXPECT_EQ(s->free_count, before);
    parts_.remote.unlock_and_settle(kHeapB);
    parts_.remote.unlock_and_settle(kGlobal);
    EXPECT_EQ(s->free_count, before + 1);
}

// Between the look at the owner and the lock a heap may have taken the superblock.
TEST_F(ReturnsTest, WhoWaitedForTheGlobalHeapGivesNothingThatItHasNoLonger) {
    const std::vector<void *> blocks = take_global();
    Superblock *const s = parts_.superblock_of(blocks[0]);
    const std::uint32_t free = s->free_count;
    parts_.while_waiting(
        kGlobal, [&] { parts_.returns.give_one("free", blocks[0], false); },
        [&] {
            // As take_from_global, under a lock that is held already.
            ASSERT_TRUE(parts_.owners.try_lock(kHeapB));
            parts_.owners.global(kClass).bin.abandon(s);
            parts_.store.hand_over(s, kHeapB);
            parts_.owners.heap(kHeapB).bins[kClass.value].adopt(s);
            parts_.remote.unlock_and_settle(kHeapB);
        });
    EXPECT_EQ(s->free_count, free);
    EXPECT_EQ(parts_.superblocks.remote_count(s), 1U) << "so by its bit";
    EXPECT_TRUE(has_news(kHeapB));
}

// Words of one superblock, and of two, that share a place in the batch.
TEST_F(ReturnsTest, ABatchSetsEachBlocksOwnBit) {
    constexpr ClassIndex kSmall(1);
    const std::vector<void *> blocks = parts_.take_all(kHeapA, kSmall);
    const std::vector<void *> more = parts_.take_all(kHeapA, kSmall);
    {
        RemoteFrees::Batch batch(parts_.remote);
        for (const std::vector<void *> &row : {blocks, more}) {
            for (std::size_t i = 0; i < row.size(); i += kWordBits)
                batch.add(parts_.superblock_of(row[i]), parts_.superblocks.find(row[i]).index, row[i]);
        }
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        EXPECT_EQ(parts_.is_free(blocks[i]), i % kWordBits == 0) << i;
        EXPECT_EQ(parts_.is_free(more[i]), i % kWordBits == 0) << i;
    }
}

using ReturnsDeathTest = ReturnsTest;

TEST_F(ReturnsDeathTest, WhatIsNoBlockOrFreeAlreadyEndsTheProgram) {
    const std::vector<void *> blocks = parts_.take_all(kHeapA, kClass);
    parts_.give_back(kHeapA, blocks, 0, 1);
    EXPECT_DEATH(parts_.give_back(kHeapA, blocks, 0, 1), "free.*freed twice, a block of 256 bytes");
    EXPECT_DEATH(parts_.returns.give_one("realloc", blocks[0], false), "realloc.*freed twice");
    std::vector<void *> inner = {static_cast<char *>(blocks[1]) + 16};
    EXPECT_DEATH(parts_.give_back(kHeapA, inner, 0, 1), "inside a block: it starts at");
    void *const behind = static_cast<char *>(blocks[0]) + shape_of(kClass).bytes();
    EXPECT_DEATH(static_cast<void>(parts_.returns.find_or_die("free", behind)), "not a block of this heap");
    parts_.returns.give_one("free", blocks[2], true);
    EXPECT_DEATH(parts_.returns.give_one("free", blocks[2], true), "freed twice") << "its remote bit is set";
}

}  // namespace gr::returns_test
