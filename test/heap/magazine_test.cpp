// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how capacities adapt within the budget, and the publishing of a slab's headers.
// Invariant: after every step the capacities add up and stay within the budget.
// Must not know: superblocks.
#include "heap/magazine.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

namespace gr::magazine_test {

RC_GTEST_PROP(MagazinePolicy, StaysWithinItsBudget, ()) {
    const std::size_t budget = *rc::gen::inRange<std::size_t>(0, 512 * kKiB);
    const auto uses = *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange<std::uint32_t>(1, kClassCount));
    MagazinePolicy policy{};
    for (const std::uint32_t use : uses) {
        const ClassIndex c(use);
        policy.note_use(c);
        const std::uint32_t before = policy.capacity(c);
        const std::uint32_t wanted = policy.wanted(c, budget, SIZE_MAX);
        RC_ASSERT(wanted >= before);
        RC_ASSERT(wanted <= shape_of(c).magazine_slots);
        policy.set_capacity(c, wanted);
        RC_ASSERT(policy.bytes() <= budget);
        RC_ASSERT(policy.is_valid());
    }
}

TEST(MagazinePolicy, AClassInUseGrowsToItsLargest) {
    for (std::uint32_t i = 1; i < kClassCount; ++i) {
        const ClassIndex c(i);
        MagazinePolicy policy{};
        for (int step = 0; step < 12; ++step) policy.set_capacity(c, policy.wanted(c, kMiB, SIZE_MAX));
        EXPECT_EQ(policy.capacity(c), shape_of(c).magazine_slots) << i;
        EXPECT_EQ(policy.wanted(c, kMiB, SIZE_MAX), policy.capacity(c));
        EXPECT_EQ(policy.bytes(), std::size_t{shape_of(c).magazine_slots} * shape_of(c).size);
        policy.set_capacity(c, 0);
        EXPECT_EQ(policy.bytes(), 0U);
    }
}

TEST(MagazinePolicy, WhoGoesWithoutLongEnoughIsGivenMore) {
    constexpr std::size_t kFirst = 64 * kKiB;
    const ClassIndex holding(1);  // holds the budget so far, block for block
    const ClassIndex asking(2);
    MagazinePolicy policy{};
    for (unsigned doublings = 0; doublings <= kBudgetDoublings; ++doublings) {
        const std::size_t budget = kFirst << doublings;
        policy.set_capacity(holding, static_cast<std::uint32_t>(budget / size_of_class(holding)));
        for (unsigned i = 1; i < kDenialsForMore << doublings; ++i) policy.note_denied();
        EXPECT_EQ(policy.wanted(asking, kFirst, SIZE_MAX), 0U)
            << "before its time, after " << doublings << " doublings";
        policy.note_denied();
        EXPECT_EQ(policy.wanted(asking, kFirst, SIZE_MAX) != 0, doublings < kBudgetDoublings);
    }
    EXPECT_EQ(policy.wanted(asking, 0, SIZE_MAX), 0U) << "nothing doubled is something";
}

// The hand passes a class twice before it is called quiet; one that is used in between is spared.
TEST(MagazinePolicy, FindsTheQuietAndSparesTheBusy) {
    MagazinePolicy policy{};
    const ClassIndex quiet(20);
    const ClassIndex busy(30);
    const ClassIndex asking(40);
    for (const ClassIndex c : {quiet, busy, asking}) policy.set_capacity(c, 64);
    unsigned found = 0;
    for (unsigned step = 0; step < 3 * kClassCount; ++step) {
        policy.note_use(busy);
        const ClassIndex c = policy.next_quiet(asking);
        if (c.value == 0) continue;
        EXPECT_EQ(c, quiet);
        ++found;
    }
    EXPECT_GT(found, 0U);
}

class SlabTest : public testing::Test {
  protected:
    std::vector<std::uint64_t> memory_ = std::vector<std::uint64_t>(2 * kSlabBytes / 8);
    Slab slab_{reinterpret_cast<char *>(memory_.data()), 1, nullptr};
};

TEST_F(SlabTest, AnUnpublishedMagazineIsEmptyAndFull) {
    void *block = this;
    for (std::uint32_t c = 0; c < kClassCount; ++c) {
        const std::uint32_t magazine = magazine_of(ClassIndex(c));
        EXPECT_EQ(slab_.pop(magazine), nullptr);
        EXPECT_EQ(slab_.pop_n(magazine, &block, 1), 0);
        EXPECT_EQ(slab_.push_n(magazine, &block, 1), 0);
        EXPECT_FALSE(slab_.is_top(magazine, &block));
    }
    EXPECT_TRUE(std::all_of(memory_.begin(), memory_.end(), [](std::uint64_t w) { return w == 0; }));
}

// All magazines full at once: each holds its own blocks, and none reaches into a neighbour's slots or sentinel.
TEST_F(SlabTest, MagazinesDoNotOverlap) {
    const auto block = [](std::uint32_t c, std::uint32_t i) {
        return reinterpret_cast<void *>(std::uintptr_t{c} << 16 | i << 4 | 8);
    };
    const auto fill = [&](std::uint32_t magazine, std::uint32_t c, std::uint32_t begin, std::uint32_t slots) {
        ASSERT_TRUE(slab_.set_capacity(magazine, begin, slots));
        for (std::uint32_t i = 0; i < slots; ++i) {
            void *p = block(c, i);
            ASSERT_EQ(slab_.push_n(magazine, &p, 1), 1);
            ASSERT_TRUE(slab_.is_top(magazine, p));
            ASSERT_EQ(slab_.peek(magazine, slab_.header(magazine).current - 1U), p);
        }
        void *p = block(c, slots);
        ASSERT_EQ(slab_.push_n(magazine, &p, 1), 0) << "holds more than its capacity";
    };
    const auto drain = [&](std::uint32_t magazine, std::uint32_t c, std::uint32_t slots) {
        for (std::uint32_t i = slots; i-- != 0;) ASSERT_EQ(slab_.pop(magazine), block(c, i));
        ASSERT_EQ(slab_.pop(magazine), nullptr) << "the sentinel is not zero";
    };
    for (std::uint32_t c = 1; c < kClassCount; ++c) {
        const ClassShape &shape = shape_of(ClassIndex(c));
        fill(magazine_of(ClassIndex(c)), c, shape.slots_begin(shape.magazine_slots), shape.magazine_slots);
    }
    fill(kRemoteMagazine, 200, kRemoteSlotsBegin, kRemoteMagazineSlots);
    for (std::uint32_t c = 1; c < kClassCount; ++c)
        drain(magazine_of(ClassIndex(c)), c, shape_of(ClassIndex(c)).magazine_slots);
    drain(kRemoteMagazine, 200, kRemoteMagazineSlots);
    EXPECT_TRUE(std::all_of(memory_.begin(), memory_.begin() + kSlabBytes / 8, [](std::uint64_t w) { return w == 0; }))
        << "another concurrency id's slab was written to";
}

TEST_F(SlabTest, CapacityMovesUnderTheBlocksThatAreThere) {
    const ClassIndex c(5);
    const std::uint32_t begin = shape_of(c).slots_begin(16);
    void *blocks[16] = {};
    for (int i = 0; i < 16; ++i) blocks[i] = &blocks[i];
    ASSERT_TRUE(slab_.set_capacity(magazine_of(c), begin, 16));
    ASSERT_EQ(slab_.push_n(magazine_of(c), blocks, 16), 16);
    ASSERT_TRUE(slab_.set_capacity(magazine_of(c), begin, 4));
    EXPECT_EQ(slab_.push_n(magazine_of(c), blocks, 1), 0);
    for (int i = 15; i >= 0; --i) EXPECT_EQ(slab_.pop(magazine_of(c)), blocks[i]);
    EXPECT_EQ(slab_.pop(magazine_of(c)), nullptr);
    EXPECT_EQ(slab_.push_n(magazine_of(c), blocks, 16), 4);
}

TEST_F(SlabTest, AMagazineChangesItsSlotsOnlyWhileEmpty) {
    const ClassIndex c(5);
    const std::uint32_t narrow = shape_of(c).slots_begin(kMagazineNarrowSlots);
    const std::uint32_t wide = shape_of(c).slots_begin(kMagazineNarrowSlots + 1);
    ASSERT_NE(narrow, wide);
    void *block = this;
    ASSERT_TRUE(slab_.set_capacity(magazine_of(c), narrow, kMagazineNarrowSlots));
    ASSERT_EQ(slab_.push_n(magazine_of(c), &block, 1), 1);
    EXPECT_FALSE(slab_.set_capacity(magazine_of(c), wide, kMagazineNarrowSlots * 2));
    EXPECT_EQ(slab_.pop(magazine_of(c)), this);
    EXPECT_TRUE(slab_.set_capacity(magazine_of(c), wide, kMagazineNarrowSlots * 2));
    EXPECT_EQ(slab_.pop(magazine_of(c)), nullptr) << "the sentinel is not zero";
    EXPECT_EQ(slab_.push_n(magazine_of(c), &block, 1), 1);
    EXPECT_EQ(slab_.pop(magazine_of(c)), this);
    EXPECT_EQ(slab_.header(magazine_of(c)).begin, Slab::index_from(magazine_of(c), wide));
}

}  // namespace gr::magazine_test
