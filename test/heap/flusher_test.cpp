// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a flush gives back and what it keeps; how wide a remote magazine is, by what it held; and that a heap's
//    magazines take a share of the heap, not more.
// Invariant: one thread; no sequences, so that the slab is the reference's, but where they refuse.
// Must not know: how messages are written.
#include "heap/flusher.hpp"

#include "heap/parts.hpp"

namespace gr::flusher_test {

using fake::kHeapA;
using fake::kHeapB;

class FlusherTest : public testing::Test {
  protected:
    explicit FlusherTest(const fake::PartsSetup &setup = {}) : parts_(setup) {}

    std::uint32_t cached(OwnerIndex o, ClassIndex c) const { return parts_.in_magazine(o, magazine_of(c)); }
    std::uint32_t width() const {
        const platform::MagazineHeader header = parts_.owners.slab(kHeapA).header(kRemoteMagazine);
        return header.capacity();
    }
    // Frees blocks of heap B in heap A until its remote magazine is full once more, and flushes it.
    void fill_and_flush(ClassIndex c) {
        Slab slab = parts_.owners.slab(kHeapA);
        do {
            if (blocks_.empty() || class_ != c) {
                blocks_ = parts_.take_all(kHeapB, c);
                class_ = c;
            }
            ASSERT_TRUE(slab.push(kRemoteMagazine, blocks_.back()));
            blocks_.pop_back();
        } while (parts_.in_magazine(kHeapA, kRemoteMagazine) < width());
        ASSERT_EQ(flusher_.flush_remote(kHeapA), Flusher::Result::room);
        EXPECT_EQ(parts_.in_magazine(kHeapA, kRemoteMagazine), 0U);
        parts_.remote.settle(kHeapB);
    }

    fake::Parts parts_;
    Flusher flusher_{parts_.owners, parts_.remote, parts_.returns, parts_.messenger, parts_.capacities};
    std::vector<void *> blocks_;
    ClassIndex class_;
};

TEST_F(FlusherTest, ARemoteMagazineWidensForSmallBlocksAndNarrowsForLargeOnes) {
    ASSERT_EQ(flusher_.flush_remote(kHeapA), Flusher::Result::room);
    ASSERT_EQ(width(), kMagazineFirstSlots);
    for (std::uint32_t expected = kMagazineFirstSlots; expected < kRemoteMagazineSlots;) {
        fill_and_flush(class_of(64));
        EXPECT_EQ(width(), expected *= 2);
    }
    fill_and_flush(class_of(64));
    EXPECT_EQ(width(), kRemoteMagazineSlots) << "at its widest";
    while (width() * kClassLimit > 2 * kRemoteMagazineBytes) {
        const std::uint32_t before = width();
        fill_and_flush(class_of(kClassLimit));
        ASSERT_EQ(width(), before / 2);
    }
    for (int i = 0; i < 8; ++i) {
        fill_and_flush(class_of(kClassLimit));
        EXPECT_LE(width() * kClassLimit, 2 * kRemoteMagazineBytes);
        EXPECT_GE(width(), kMagazineFirstSlots);
    }
}

TEST_F(FlusherTest, ARemoteMagazineGoesWhole) {
    const std::vector<void *> blocks = parts_.take_all(kHeapB, class_of(64));
    parts_.fill_remote(kHeapA, {blocks.data(), kRemoteMagazineSlots});
    EXPECT_EQ(flusher_.flush_remote(kHeapA), Flusher::Result::room);
    EXPECT_EQ(parts_.in_messages_of(kHeapA), kRemoteMagazineSlots);
}

TEST_F(FlusherTest, LargeBlocksGoByMessageAsSmallOnesDo) {
    ASSERT_EQ(flusher_.flush_remote(kHeapA), Flusher::Result::room);
    Slab slab = parts_.owners.slab(kHeapA);
    const std::vector<void *> blocks = parts_.take_all(kHeapB, class_of(kClassLimit));
    ASSERT_TRUE(slab.push(kRemoteMagazine, blocks[0]));
    ASSERT_TRUE(slab.push(kRemoteMagazine, blocks[1]));
    ASSERT_EQ(flusher_.flush_remote(kHeapA), Flusher::Result::room);
    EXPECT_TRUE(parts_.owners.owner(kHeapB).inbox.has_any());
    EXPECT_FALSE(parts_.owners.owner(kHeapB).pending.has_any());
}

// Where addresses are scarce and what is in use falls, blocks of no size wait for others of their way.
TEST_F(FlusherTest, InAddressSavingModeNothingIsGathered) {
    ASSERT_EQ(flusher_.flush_remote(kHeapA), Flusher::Result::room);
    Slab slab = parts_.owners.slab(kHeapA);
    for (const std::size_t size : {std::size_t{64}, kClassLimit}) {
        const std::vector<void *> blocks = parts_.take_all(kHeapB, class_of(size));
        ASSERT_TRUE(slab.push(kRemoteMagazine, blocks[0]));
        parts_.begin_address_saving();
        parts_.holding(kHeapA, [&] {
            flusher_.flush_all(kHeapA);
            parts_.capacities.close(kHeapA);
        });
        EXPECT_FALSE(parts_.owners.owner(kHeapB).has_news()) << "its owner comes for it at once";
        EXPECT_TRUE(parts_.is_free(blocks[0]));
        EXPECT_EQ(width(), 0U);
        EXPECT_EQ(flusher_.flush_remote(kHeapA), Flusher::Result::refused);
        EXPECT_EQ(width(), 0U);
        parts_.end_address_saving();
        EXPECT_EQ(flusher_.flush_remote(kHeapA), Flusher::Result::room);
        EXPECT_EQ(width(), kMagazineFirstSlots);
    }
}

// What magazines may hold beyond their first budget is a share of what is in use, divided by the heaps there are.
TEST_F(FlusherTest, MagazinesOfASmallHeapStaySmall) {
    EXPECT_EQ(parts_.owners.most_magazine_bytes(), kMagazineBudget);
    constexpr std::size_t kInUse = 8 * kMiB;
    while (parts_.pages.present_bytes() < kInUse) parts_.take_all(kHeapA, class_of(1024));
    EXPECT_EQ(parts_.owners.most_magazine_bytes(), parts_.pages.present_bytes() / (kBudgetParts * fake::kPartsHeaps));
    MagazinePolicy policy{};
    for (unsigned i = 0; i < kDenialsForMore << (kBudgetDoublings + 1); ++i) policy.note_denied();
    const ClassIndex c = class_of(kClassLimit);
    policy.set_capacity(c, kMagazineBudget / kClassLimit);
    EXPECT_EQ(policy.wanted(c, kMagazineBudget, kMagazineBudget), policy.capacity(c)) << "no more than the most";
}

TEST_F(FlusherTest, AFullMagazineGivesHalfBack) {
    constexpr ClassIndex kClass = class_of(4096);
    const std::vector<void *> blocks = parts_.take_all(kHeapA, kClass);
    const std::vector<void *> more = parts_.take_all(kHeapA, kClass);
    const std::uint32_t slots = shape_of(kClass).magazine_slots;
    ASSERT_EQ(parts_.fill(kHeapA, blocks), slots);
    EXPECT_EQ(flusher_.flush(kHeapA, kClass, more[0]), Flusher::Result::room);
    EXPECT_EQ(cached(kHeapA, kClass), slots / 2);
    EXPECT_EQ(parts_.owners.heap(kHeapA).bins[kClass.value].free_blocks(), slots - slots / 2);
    EXPECT_FALSE(parts_.is_free(more[0])) << "it is for the caller to push";
}

TEST_F(FlusherTest, AllMagazinesAreEmptiedForWhoNeedsTheMemory) {
    constexpr ClassIndex kClass = class_of(256);
    const std::vector<void *> own = parts_.take_all(kHeapA, kClass);
    const std::vector<void *> others = parts_.take_all(kHeapB, kClass);
    const Superblock *const s = parts_.superblock_of(own[0]);
    ASSERT_EQ(parts_.fill(kHeapA, own), own.size());
    parts_.fill_remote(kHeapA, {others.data(), 5});
    parts_.holding(kHeapA, [&] { flusher_.flush_all(kHeapA); });
    EXPECT_EQ(cached(kHeapA, kClass), 0U);
    EXPECT_EQ(parts_.in_magazine(kHeapA, kRemoteMagazine), 0U);
    EXPECT_EQ(owner_of(s), kNobody) << "a block was lost";
    EXPECT_EQ(parts_.in_messages_of(kHeapA), 5U);
}

// As a stop leaves them: a message to this heap itself may come back to the magazines that are emptied last.
TEST_F(FlusherTest, WhatWasTakenOutOfReachGoesBackAndItsMagazinesBeginAnew) {
    constexpr ClassIndex kClass = class_of(256);
    const std::vector<void *> own = parts_.take_all(kHeapA, kClass);
    const std::vector<void *> others = parts_.take_all(kHeapB, kClass);
    ASSERT_EQ(parts_.fill(kHeapA, own), own.size());
    const Superblock *const s = parts_.superblock_of(own[0]);
    parts_.fill_remote(kHeapA, {others.data(), 5});
    parts_.owners.slab(kHeapA).detach_all();
    EXPECT_FALSE(parts_.owners.slab(kHeapA).push(magazine_of(kClass), own[0]))
        << "there is room over what was detached";
    parts_.holding(kHeapA, [&] { flusher_.flush_detached(kHeapA); });
    EXPECT_FALSE(parts_.owners.slab(kHeapA).has_detached());
    EXPECT_EQ(owner_of(s), kNobody) << "a block was lost";
    EXPECT_EQ(parts_.in_messages_of(kHeapA), 5U);
    EXPECT_EQ(parts_.owners.heap(kHeapA).magazines.capacity(kClass), 0U);
    const platform::MagazineHeader header = parts_.owners.slab(kHeapA).header(magazine_of(kClass));
    EXPECT_EQ(header.limit, header.begin);
}

class FlusherWithoutBudget : public FlusherTest {
  protected:
    FlusherWithoutBudget() : FlusherTest({.budget = 1}) {}
};

TEST_F(FlusherWithoutBudget, ABlockForWhichThereIsNoSlotIsFreedAtOnce) {
    constexpr ClassIndex kClass = class_of(256);
    const std::vector<void *> blocks = parts_.take_all(kHeapA, kClass);
    EXPECT_EQ(flusher_.flush(kHeapA, kClass, blocks[4]), Flusher::Result::freed);
    EXPECT_TRUE(parts_.is_free(blocks[4]));
    EXPECT_EQ(cached(kHeapA, kClass), 0U);
}

class FlusherElsewhere : public FlusherTest {
  protected:
    void SetUp() override {
        if (!fake::has_rseq()) GTEST_SKIP() << "libc registers no rseq here";
    }
    FlusherElsewhere() : FlusherTest({.sequences = fake::has_rseq()}) {}
};

TEST_F(FlusherElsewhere, WhoMovedToAnotherCpuFlushesNothing) {
    constexpr ClassIndex kClass = class_of(4096);
    const OwnerIndex far = parts_.last_heap();
    const std::vector<void *> own = parts_.take_all(far, kClass);
    const std::vector<void *> others = parts_.take_all(kHeapA, kClass);
    const std::uint32_t filled = parts_.fill(far, own);
    parts_.fill_remote(far, {others.data(), 5});
    const std::vector<void *> more = parts_.take_all(far, kClass);
    EXPECT_EQ(flusher_.flush(far, kClass, more[0]), Flusher::Result::moved);
    EXPECT_EQ(flusher_.flush_remote(far), Flusher::Result::moved);
    parts_.holding(far, [&] { flusher_.flush_all(far); });
    EXPECT_EQ(cached(far, kClass), filled);
    EXPECT_EQ(parts_.in_magazine(far, kRemoteMagazine), 5U);
}

}  // namespace gr::flusher_test
