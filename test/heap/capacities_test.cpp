// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how wide magazines become, and that their blocks come along or go back.
// Invariant: the header and the policy say the same after each step, and each block is in the magazine or free.
// Must not know: why a magazine ran empty or full.
#include "heap/capacities.hpp"

#include "heap/parts.hpp"

namespace gr::capacities_test {

using fake::kHeapA;

constexpr ClassIndex kClass = class_of(64);

class CapacitiesTest : public testing::Test {
  protected:
    std::uint32_t capacity() const { return parts_.owners.heap(kHeapA).magazines.capacity(kClass); }
    std::uint32_t held() const { return parts_.in_magazine(kHeapA, magazine_of(kClass)); }
    void expect_agreement() const {
        const platform::MagazineHeader header = parts_.owners.slab(kHeapA).header(magazine_of(kClass));
        EXPECT_EQ(header.capacity(), capacity());
        EXPECT_TRUE(parts_.owners.heap(kHeapA).magazines.is_valid());
    }
    // As many as there is room for, from the end on; so many are in already.
    std::size_t fill(const std::vector<void *> &blocks, std::size_t filled) {
        const auto left = static_cast<std::uint32_t>(blocks.size() - filled);
        return static_cast<std::size_t>(parts_.owners.slab(kHeapA).push_n(magazine_of(kClass), blocks.data(), left));
    }

    fake::Parts parts_;
};

TEST_F(CapacitiesTest, AMagazineGrowsToItsLargestWithItsBlocks) {
    const std::vector<void *> blocks = parts_.take_all(kHeapA, kClass);
    std::size_t pushed = 0;
    parts_.holding(kHeapA, [&] {
        std::uint32_t before = 0;
        while (parts_.capacities.grow(kHeapA, kClass)) {
            EXPECT_GT(capacity(), before);
            before = capacity();
            expect_agreement();
            EXPECT_EQ(held(), pushed) << "at a capacity of " << before;
            pushed += fill(blocks, pushed);
            EXPECT_EQ(held(), before);
        }
        EXPECT_EQ(capacity(), shape_of(kClass).magazine_slots);
        EXPECT_GT(capacity(), kMagazineNarrowSlots) << "it never moved";
    });
    EXPECT_EQ(parts_.superblock_of(blocks[0])->free_count, 0U);
}

TEST_F(CapacitiesTest, WhatIsTooMuchGoesBackToItsSuperblock) {
    const std::vector<void *> blocks = parts_.take_all(kHeapA, kClass);
    parts_.holding(kHeapA, [&] {
        while (parts_.capacities.grow(kHeapA, kClass)) {
        }
        ASSERT_EQ(fill(blocks, 0), capacity());
        ASSERT_GT(capacity(), kBatchBlocks + 5) << "one batch does";
        parts_.capacities.flush_excess(kHeapA, kClass, 5);
    });
    EXPECT_EQ(held(), 5U);
    EXPECT_EQ(parts_.superblock_of(blocks[0])->free_count, capacity() - 5);
    const Slab slab = parts_.owners.slab(kHeapA);
    const platform::MagazineHeader header = slab.header(magazine_of(kClass));
    for (std::uint32_t i = header.begin; i < header.current; ++i)
        EXPECT_FALSE(parts_.is_free(slab.peek(magazine_of(kClass), i)));
    parts_.holding(kHeapA, [&] { parts_.capacities.flush_excess(kHeapA, kClass, 5); });
    EXPECT_EQ(held(), 5U);
}

// A program of many sizes has little of each, and would hold a superblock of each for ever.
class UnusedTest : public CapacitiesTest {
  protected:
    // All but `live` of the blocks of a superblock are free, a few of them in the magazine.
    void SetUp() override {
        blocks_ = parts_.take_all(kHeapA, kClass);
        parts_.holding(kHeapA, [&] { parts_.capacities.grow(kHeapA, kClass); });
    }
    void leave(std::size_t live) {
        parts_.give_back(kHeapA, blocks_, live, blocks_.size() - live - kCached);
        Slab slab = parts_.owners.slab(kHeapA);
        const std::int64_t pushed = slab.push_n(magazine_of(kClass), &blocks_[blocks_.size() - kCached], kCached);
        ASSERT_EQ(pushed, kCached);
    }
    void look() {
        parts_.holding(kHeapA, [&] { parts_.capacities.empty_unused(kHeapA, class_of(32)); });
    }
    // The hand comes by once: it begins at the smallest class, of which this is one, and does not quite go round.
    void look_round() {
        for (std::uint32_t looks = 0; looks + kUnusedLooks < kClassCount; looks += kUnusedLooks) look();
    }
    // So that it has come by twice.
    void look_twice() {
        look_round();
        look_round();
        look();
    }
    bool is_there() const { return parts_.superblock_of(blocks_[0]) != nullptr; }

    static constexpr std::uint32_t kCached = 3;
    std::vector<void *> blocks_;
};

TEST_F(UnusedTest, WhatOnlyAMagazineHoldsGoesBackInItsSecondQuietTurn) {
    leave(0);
    look_round();
    EXPECT_TRUE(is_there()) << "it was in use before this turn";
    look_round();
    look();
    EXPECT_FALSE(is_there());
    EXPECT_EQ(held(), 0U);
}

TEST_F(UnusedTest, ALiveBlockKeepsTheMagazine) {
    leave(1);
    look_twice();
    EXPECT_TRUE(is_there());
    EXPECT_EQ(held(), kCached);
}

TEST_F(UnusedTest, WhatIsInUseStays) {
    leave(0);
    for (std::uint32_t looks = 0; looks < 4 * kClassCount; looks += kUnusedLooks) {
        look();
        parts_.holding(kHeapA, [&] { parts_.owners.heap(kHeapA).magazines.note_use(kClass); });
    }
    EXPECT_TRUE(is_there());
}

TEST_F(UnusedTest, WhatHasFewResidentPagesIsNotWorthIt) {
    leave(0);
    Superblock *const s = parts_.superblock_of(blocks_[0]);
    parts_.holding(kHeapA, [&] {
        const PageSet pages = parts_.superblocks.empty_pages(s);
        const std::uint32_t claimed = parts_.superblocks.claim_pages(s, pages);
        ASSERT_EQ(parts_.superblocks.return_pages(s, pages, pages), claimed) << "as after a sweep";
    });
    look_twice();
    EXPECT_TRUE(is_there());
}

// From wide to narrow slots, of which it then has fewer than came along: as for a thread that moved to another CPU in
// between.
TEST(CapacitiesOfAQuietClass, WhatFindsNoRoomAnyMoreGoesBackToItsSuperblock) {
    constexpr ClassIndex kQuiet = class_of(1024);
    constexpr std::uint32_t kWide = kMagazineNarrowSlots * 3 / 2;
    constexpr std::uint32_t kNarrow = kWide / 2;
    fake::Parts parts({.budget = kWide * shape_of(kQuiet).size});
    const std::vector<void *> blocks = parts.take_all(kHeapA, kQuiet);
    ASSERT_EQ(parts.fill(kHeapA, blocks, kWide), kWide);
    const MagazinePolicy &policy = parts.owners.heap(kHeapA).magazines;
    // Each asks for what the quiet one has.
    for (std::uint32_t i = 0; i < 2 * kClassCount && policy.capacity(kQuiet) != kNarrow; ++i)
        parts.holding(kHeapA, [&] { parts.capacities.grow(kHeapA, kClass); });
    ASSERT_EQ(policy.capacity(kQuiet), kNarrow);
    EXPECT_EQ(parts.in_magazine(kHeapA, magazine_of(kQuiet)), kNarrow);
    EXPECT_EQ(parts.superblock_of(blocks[0])->free_count, kWide - kNarrow) << "a block was lost";
    EXPECT_TRUE(policy.is_valid());
}

}  // namespace gr::capacities_test
