// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how wide magazines become, and that their blocks come along or go back.
// Invariant: the header and the policy say the same after each step, and each block is in the magazine or free.
// Must not know: why a magazine ran empty or full.
#include "heap/capacities.hpp"

#include "heap/parts.hpp"

namespace gr {
namespace {

using fake::kHeapA;

constexpr ClassIndex kClass = class_of(64);

class CapacitiesTest : public testing::Test {
  protected:
    std::uint32_t capacity() const { return parts_.owners.heap(kHeapA).magazines.capacity(kClass); }
    std::uint32_t held() const { return parts_.in_magazine(kHeapA, magazine_of(kClass)); }
    void expect_agreement() const {
        const platform::MagazineHeader header = parts_.owners.slab(kHeapA).header(magazine_of(kClass));
        EXPECT_EQ(static_cast<std::uint32_t>(header.limit - header.begin), capacity());
        EXPECT_TRUE(parts_.owners.heap(kHeapA).magazines.is_valid());
    }
    // As many as there is room for.
    std::size_t fill(const std::vector<void *> &blocks, std::size_t from) {
        const auto left = static_cast<std::uint32_t>(blocks.size() - from);
        return static_cast<std::size_t>(parts_.owners.slab(kHeapA).push_n(magazine_of(kClass), &blocks[from], left));
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

// From wide to narrow slots, of which it then has fewer than came along: as for who moved to another CPU in between.
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

}  // namespace
}  // namespace gr
