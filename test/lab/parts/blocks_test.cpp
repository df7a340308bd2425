// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what tells a block's size and owner: bins, tags, containers of one size and of four, headers in a table.
// Invariant: every address that a program can have leads to its block.
// Must not know: heaps.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "lab/parts/validity.hpp"
#include "parts/layout/container_sizes.hpp"
#include "parts/layout/header_table.hpp"
#include "parts/layout/object_layouts.hpp"
#include "parts/stores/global_containers.hpp"

namespace gr::lab::blocks_test {

constexpr Features kRestricted = containers + ownership + restricted_movement;

TEST(SizeBinsTest, ABinHoldsItsSizeAndWastesAFifth) {
    using Bins = GeometricBins<32 * kKiB>;
    for (std::size_t size = 0; size <= Bins::largest(); ++size) {
        const unsigned bin = Bins::bin_of(size);
        ASSERT_LT(bin, Bins::kCount);
        ASSERT_GE(Bins::size_of(bin), size);
        ASSERT_EQ(Bins::size_of(bin) % kAlignment, 0U);
        if (bin != 0) {
            ASSERT_LT(Bins::size_of(bin - 1), size);
            ASSERT_LE(Bins::size_of(bin), Bins::size_of(bin - 1) * 12 / 10 + kAlignment);
        }
        ASSERT_EQ(Bins::bin_of(Bins::size_of(bin)), bin);
    }
}

TEST(WildernessTest, PiecesAreAlignedZeroedAndApart) {
    static constinit Wilderness wilderness;
    std::set<char *> begins;
    for (int i = 0; i < 200; ++i) {
        const std::size_t bytes = i % 3 == 0 ? kUnitBytes : 8 * kKiB;
        char *const piece = wilderness.extend(bytes, bytes);
        ASSERT_NE(piece, nullptr);
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(piece) % bytes, 0U);
        for (std::size_t at = 0; at < bytes; at += 512) ASSERT_EQ(piece[at], 0);
        std::fill(piece, piece + bytes, 'x');
        ASSERT_TRUE(begins.insert(piece).second);
    }
    char *const large = wilderness.extend(5 * kMiB, kUnitBytes);
    ASSERT_NE(large, nullptr);
    large[5 * kMiB - 1] = 'x';
    EXPECT_EQ(wilderness.extend(std::size_t{1} << 62, kUnitBytes), nullptr);
}

TEST(BlockTagTest, AnAlignedAddressLeadsToItsBlock) {
    alignas(256) char place[1024] = {};
    char *const block = place + kAlignment;
    set_tag(block, {512, 7, BlockState::in_use});
    EXPECT_EQ(TaggedBlocks::block_of(block), block);
    EXPECT_EQ(tag_of(block).bytes, 512U);
    EXPECT_EQ(tag_of(block).heap, 7U);
    void *const aligned = TaggedBlocks::aligned_in(block, 256);
    EXPECT_EQ(aligned, place + 256);
    EXPECT_EQ(TaggedBlocks::block_of(aligned), block);
    EXPECT_EQ(TaggedBlocks::usable_size(block, 1), 512 - kTagBytes);
    EXPECT_EQ(TaggedBlocks::usable_size(aligned, 1), 512 - kTagBytes - (256 - kAlignment));
}

TEST(BlockTagDeathTest, WhatIsNoBlockInUseIsFound) {
    alignas(4 * kAlignment) static char place[256] = {};
    char *const block = place + kAlignment;
    set_tag(block, {128, 1, BlockState::in_use});
    void *const aligned = TaggedBlocks::aligned_in(block, std::size_t{4} * kAlignment);
    ASSERT_NE(aligned, block);
    TaggedBlocks::take_back(block);
    EXPECT_DEATH(TaggedBlocks::block_of(block), "not a block in use");
    EXPECT_DEATH(TaggedBlocks::block_of(aligned), "not a block in use");
    EXPECT_DEATH(TaggedBlocks::block_of(block + 1), "not a block in use");
    EXPECT_DEATH(TaggedBlocks::block_of(block + kAlignment), "not a block in use");
}

template <class Sizes>
class ContainerSizesTest : public testing::Test {
  protected:
    static inline constinit Sizes sizes;
};
using AllSizes =
    testing::Types<FixedContainers<kUnitBytes>, FixedContainers<8 * kKiB>, VariedContainers, TabledContainers,
                   RemoteContainers<FixedContainers<kUnitBytes>, LockedRemoteList<Rank::worklist>>>;
TYPED_TEST_SUITE(ContainerSizesTest, AllSizes);

TYPED_TEST(ContainerSizesTest, EachByteOfEachBlockLeadsToItsContainer) {
    for (const std::size_t size :
         {std::size_t{16}, std::size_t{112}, std::size_t{1024}, std::size_t{TypeParam::kLargestBlock}}) {
        for (const unsigned asked : {0U, 1000U}) {
            const unsigned shape = TypeParam::shape_for(size, asked);
            Container *const container = this->sizes.make(shape);
            ASSERT_NE(container, nullptr);
            EXPECT_EQ(TypeParam::shape_of(container), shape);
            container->format(3, size);
            EXPECT_GE(container->blocks, 2U);
            std::set<char *> blocks;
            while (auto *const block = static_cast<char *>(container->take())) {
                ASSERT_TRUE(blocks.insert(block).second);
                ASSERT_EQ(reinterpret_cast<std::uintptr_t>(block) % kAlignment, 0U);
                // The last byte's own address is the next's only where no block begins.
                ASSERT_EQ(TypeParam::container_of(block + 1), container);
                ASSERT_EQ(TypeParam::container_of(block + size - 1), container);
                std::fill(block, block + size, 'x');
            }
            EXPECT_EQ(blocks.size(), container->blocks);
            EXPECT_TRUE(container->is_full());
            for (char *const block : blocks) container->put(block);
            EXPECT_TRUE(container->is_empty());
            EXPECT_TRUE(is_valid(*container));
        }
    }
}

TYPED_TEST(ContainerSizesTest, ALargeBlockIsFoundAtAnyAlignment) {
    using Blocks = ContainedBlocks<TypeParam>;
    for (std::size_t alignment = kAlignment; alignment <= 8 * kMiB; alignment *= 2) {
        for (const std::size_t size : {std::size_t{1}, 3 * kUnitBytes + 5}) {
            auto *const p = static_cast<char *>(Blocks::allocate_large(size, alignment));
            ASSERT_NE(p, nullptr);
            ASSERT_EQ(reinterpret_cast<std::uintptr_t>(p) % alignment, 0U);
            ASSERT_GE(Blocks::usable_size(p), size);
            p[0] = p[Blocks::usable_size(p) - 1] = 'x';
            void *const block = Blocks::block_of(p);
            ASSERT_TRUE(Blocks::is_large(block));
            Blocks::free_large(block);
        }
    }
}

TEST(ContainerTest, AnAlignedAddressLeadsToItsBlock) {
    using Sizes = FixedContainers<kUnitBytes>;
    using Blocks = ContainedBlocks<Sizes>;
    static constinit Sizes sizes;
    Container *const container = sizes.make(0);
    container->format(0, 1040);
    for (int i = 0; i < 20; ++i) {
        auto *const block = static_cast<char *>(container->take());
        auto *const p = static_cast<char *>(Blocks::aligned_in(block, 512));
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 512, 0U);
        EXPECT_EQ(Blocks::block_of(p), block);
        EXPECT_EQ(Blocks::block_of(block), block);
        EXPECT_EQ(Blocks::usable_size(p), 1040U - static_cast<std::size_t>(p - block));
    }
}

TEST(ContainerDeathTest, WhereOnlyFreeContainersLieNoBlockIsFreed) {
    static constinit GlobalContainers<FixedContainers<kUnitBytes>, kRestricted> locked;
    static constinit GlobalContainers<FixedContainers<kUnitBytes>, kRestricted + global_remote_list + lock_free>
        lock_free;
    const auto give_and_put = [](auto &global) {
        Container *const container = global.take(3, 64, 1);
        void *const block = container->take();
        container->put(block);
        global.give(container);
        global.put(block);
    };
    EXPECT_DEATH(give_and_put(locked), "not a block in use");
    EXPECT_DEATH(give_and_put(lock_free), "not a block in use");
}

// 5.8
TEST(VariedContainersTest, WhatIsAskedForMuchGetsLargerContainers) {
    EXPECT_EQ(VariedContainers::shape_for(16, 0), 0U);
    EXPECT_EQ(VariedContainers::shape_for(16, 1000), VariedContainers::kShapes - 1);
    EXPECT_GT(VariedContainers::shape_for(2000, 0), 0U);
    EXPECT_EQ(VariedContainers::shape_for(VariedContainers::kLargestBlock, 0), VariedContainers::kShapes - 1);
}

// 5.4: of more than 128 that are wholly free up to half are there for any size.
TEST(GlobalContainersTest, ManyFreeContainersAreConvertedAndFewAreNot) {
    static constinit GlobalContainers<FixedContainers<kUnitBytes>, kRestricted> global;
    std::vector<Container *> containers;
    for (int i = 0; i < 129; ++i) containers.push_back(global.take(3, 64, 1));
    const std::set<Container *> known(containers.begin(), containers.end());
    for (int i = 0; i < 128; ++i) global.give(containers[static_cast<std::size_t>(i)]);
    EXPECT_EQ(known.count(global.take(5, 112, 2)), 0U);
    global.give(containers.back());
    Container *const converted = global.take(5, 112, 2);
    EXPECT_EQ(known.count(converted), 1U);
    EXPECT_EQ(converted->block_bytes, 112U);
    EXPECT_EQ(known.count(global.take(3, 64, 1)), 1U);
}

TEST(ContainerDeathTest, WhatIsNoContainerIsFound) {
    alignas(kUnitBytes) static char unit[2 * kUnitBytes];
    EXPECT_DEATH(ContainedBlocks<FixedContainers<kUnitBytes>>::block_of(unit + 64), "not a block in use");
    EXPECT_DEATH(TabledContainers::container_of(unit + 64), "not a block in use");
    static constinit FixedContainers<kUnitBytes> sizes;
    Container *const container = sizes.make(0);
    container->format(0, 64);
    void *const block = container->take();
    container->put(block);
    EXPECT_DEATH(container->put(block), "not a block in use");
}

}  // namespace gr::lab::blocks_test
