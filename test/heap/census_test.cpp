// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: where a census finds blocks, and that it finds each fault for its own reason.
// Invariant: a fault is made by hand in what is sound otherwise.
// Must not know: how a fault could come about.
#include "heap/census.hpp"

#include "heap/parts.hpp"

namespace gr::census_test {

using fake::kHeapA;
using fake::kHeapB;

constexpr ClassIndex kClass = class_of(256);
constexpr ClassIndex kOther = class_of(4096);

class CensusTest : public testing::Test {
  protected:
    std::uint64_t cached(ClassIndex c) const {
        std::uint64_t blocks[kClassCount] = {};
        census_.count_cached(blocks);
        return blocks[c.value];
    }
    // Superblocks of heap A that are half empty, so that some go to the global heap.
    void make_some_global() {
        std::vector<std::vector<void *>> held;
        for (int i = 0; i < 4; ++i) held.push_back(parts_.take_all(kHeapA, kClass));
        for (const auto &blocks : held) parts_.give_back(kHeapA, blocks, 0, each_ / 2);
        ASSERT_GT(parts_.owners.global(kClass).bin.superblocks(), 0U);
    }
    Superblock *in_bin(OwnerIndex o) const { return parts_.owners.bin_of(o, kClass).fullest(); }

    fake::Parts parts_;
    Census census_{parts_.owners, parts_.global_free, parts_.region, parts_.superblocks, parts_.pages};
    const std::uint32_t each_ = shape_of(kClass).blocks;
};

TEST_F(CensusTest, BlocksInMagazinesOfAllHeapsAreCached) {
    EXPECT_EQ(cached(kClass), 0U);
    const std::uint32_t own = parts_.fill(kHeapA, parts_.take_all(kHeapA, kClass));
    const std::uint32_t others = parts_.fill(kHeapB, parts_.take_all(kHeapB, kClass));
    const std::uint32_t of_other = parts_.fill(kHeapB, parts_.take_all(kHeapB, kOther));
    EXPECT_EQ(cached(kClass), own + others);
    EXPECT_EQ(cached(kOther), of_other);
}

TEST_F(CensusTest, BlocksInRemoteMagazinesAndMessagesAreCachedByTheirOwnClass) {
    std::vector<void *> blocks = parts_.take_all(kHeapA, kClass);
    const std::vector<void *> others = parts_.take_all(kHeapA, kOther);
    parts_.fill_remote(kHeapB, {blocks.data(), 7});
    parts_.fill_remote(owner_of_heap(2), {others.data(), 3});
    EXPECT_EQ(cached(kClass), 7U);
    EXPECT_EQ(cached(kOther), 3U);
    parts_.holding(kHeapB, [&] { parts_.messenger.send(kHeapB, {&blocks[7], 20}); });
    EXPECT_EQ(cached(kClass), 27U);
}

TEST_F(CensusTest, AClassIsCountedInHeapsAndInTheGlobalHeap) {
    make_some_global();
    parts_.give_back(kHeapB, parts_.take_all(kHeapB, kClass), 0, 3);
    const Census::ClassUse use = census_.class_use(kClass);
    EXPECT_EQ(use.blocks, std::uint64_t{5} * each_);
    EXPECT_EQ(use.free, std::uint64_t{4} * (each_ / 2) + 3);
    EXPECT_EQ(census_.class_use(kOther).blocks, 0U);
}

TEST_F(CensusTest, WhatIsSoundHasNoFault) {
    make_some_global();
    parts_.holding(kHeapB, [&] { ASSERT_TRUE(parts_.capacities.grow(kHeapB, kClass)); });
    EXPECT_EQ(census_.first_fault(), nullptr);
}

TEST_F(CensusTest, AMagazineThatIsNotAsItsHeapBelievesIsAFault) {
    parts_.owners.heap(kHeapA).magazines.set_capacity(kClass, 5);
    EXPECT_STREQ(census_.first_fault(), "a magazine's capacity is not what its heap believes");
    ASSERT_TRUE(parts_.owners.slab(kHeapA).set_capacity(magazine_of(kClass), shape_of(kClass).slots_begin(5), 5));
    EXPECT_EQ(census_.first_fault(), nullptr);
    const std::vector<void *> blocks = parts_.take_all(kHeapA, kClass);
    ASSERT_TRUE(parts_.owners.slab(kHeapA).push(magazine_of(kClass), blocks[0]));
    parts_.owners.slab(kHeapA).detach_all();
    EXPECT_STREQ(census_.first_fault(), "a magazine's capacity is not what its heap believes") << "it is out of reach";
}

TEST_F(CensusTest, AWrongNumberOfFreeBlocksIsAFault) {
    make_some_global();
    ++in_bin(kHeapA)->free_count;
    EXPECT_STREQ(census_.first_fault(), "a heap's bin is not valid");
    --in_bin(kHeapA)->free_count;
    ++in_bin(owner_of_global(kClass))->free_count;
    EXPECT_STREQ(census_.first_fault(), "a global bin is not valid");
}

TEST_F(CensusTest, AHeapThatIsTooEmptyIsAFault) {
    for (int i = 0; i < 2; ++i)
        parts_.holding(kHeapA, [&] { ASSERT_NE(parts_.ownership.take_new(kHeapA, kClass, Prefer::warm), nullptr); });
    EXPECT_STREQ(census_.first_fault(), "Hoard's invariant does not hold");
}

TEST_F(CensusTest, AWrongSumOfWhatIsFreeOrAbsentIsAFault) {
    make_some_global();
    parts_.global_free.add(1);
    EXPECT_STREQ(census_.first_fault(), "what is free in the global heap was not counted right");
    parts_.global_free.subtract(1);
    parts_.pages.became_absent(platform::page_size());
    EXPECT_STREQ(census_.first_fault(), "absent pages were not counted right");
    in_bin(owner_of_global(kClass))->absent.add(0);
    EXPECT_STREQ(census_.first_fault(), "what is free in the global heap was not counted right")
        << "it is idle no more";
}

}  // namespace gr::census_test
