// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: every size, every class and every offset of a superblock, against plain arithmetic.
// Invariant: exhaustive; nothing is sampled.
// Must not know: how classes are computed.
#include "base/size_class.hpp"

#include <gtest/gtest.h>
#include <algorithm>

#include <set>

namespace gr::size_class_test {

TEST(SizeClass, EverySizeGetsTheSmallestClassThatFits) {
    std::uint32_t least = 1;
    for (std::size_t size = 0; size <= kClassLimit; ++size) {
        while (size_of_class(ClassIndex(least)) < size) ++least;
        ASSERT_EQ(class_of(size).value, least) << "size " << size;
    }
    EXPECT_EQ(least, kClassCount - 1);
}

TEST(SizeClass, SizesGrowAndComeBackAsTheirClass) {
    for (std::uint32_t c = 1; c < kClassCount; ++c) {
        const std::size_t size = size_of_class(ClassIndex(c));
        EXPECT_EQ(class_of(size).value, c);
        EXPECT_EQ(size % kFineStep, 0U);
        if (c > 1) {
            EXPECT_GT(size, size_of_class(ClassIndex(c - 1)));
        }
    }
}

TEST(SizeClass, WasteIsAtMostAnEighth) {
    for (std::size_t size = 129; size <= kClassLimit; ++size) {
        const std::size_t waste = size_of_class(class_of(size)) - size;
        ASSERT_LE(waste * 8, size) << "size " << size;
    }
}

TEST(SizeClass, FineSizesAreMultiplesOfSixteen) {
    for (std::size_t size = 1; size <= kFineLimit; ++size) {
        ASSERT_EQ(size_of_class(class_of(size)), (size + 15) / 16 * 16);
    }
}

TEST(SizeClass, ShapesHoldTheirBlocksAndWasteLittleOfTheTail) {
    EXPECT_EQ(shape_of(ClassIndex(0)).blocks, 0U);
    for (std::uint32_t c = 1; c < kClassCount; ++c) {
        const ClassShape &shape = shape_of(ClassIndex(c));
        EXPECT_EQ(shape.size, size_of_class(ClassIndex(c)));
        EXPECT_EQ(shape.bytes(), shape.units * kUnitBytes);
        const std::size_t used = std::size_t{shape.blocks} * shape.size;
        EXPECT_LE(used, shape.bytes());
        EXPECT_LT(shape.bytes() - used, shape.size);
        EXPECT_LE((shape.bytes() - used) * kTailWasteParts, shape.bytes());
        EXPECT_EQ(shape.words, (shape.blocks + 63) / 64);
        EXPECT_LE(shape.units, kMaxSuperblockUnits);
        EXPECT_LE(shape.blocks, kMaxBlocks);
    }
}

TEST(SizeClass, BlockAtIsDivisionForEveryOffsetOfEverySuperblock) {
    for (std::uint32_t c = 1; c < kClassCount; ++c) {
        const ClassShape &shape = shape_of(ClassIndex(c));
        std::uint32_t block = 0;
        std::size_t next = shape.size;
        for (std::size_t offset = 0; offset < shape.bytes(); ++offset) {
            if (offset == next) {
                ++block;
                next += shape.size;
            }
            ASSERT_EQ(shape.block_at(offset).value, block) << "class " << c << ", offset " << offset;
            ASSERT_EQ(shape.divides(offset), offset % shape.size == 0) << "class " << c << ", offset " << offset;
        }
    }
}

TEST(SizeClass, AlignedClassIsTheSmallestThatServes) {
    for (std::size_t alignment = 1; alignment <= 2 * kClassLimit; alignment *= 2) {
        for (std::size_t size = 0; size <= kClassLimit + 1; ++size) {
            std::uint32_t expected = 0;
            for (std::uint32_t c = class_of(size <= kClassLimit ? size : 0).value; c < kClassCount; ++c) {
                if (size > kClassLimit || alignment > kClassLimit) break;
                if (size_of_class(ClassIndex(c)) % alignment != 0) continue;
                expected = c;
                break;
            }
            ASSERT_EQ(class_of_aligned(size, alignment).value, expected) << "size " << size << ", by " << alignment;
        }
    }
}

// The word before a magazine's first slot is its sentinel and must belong to no magazine.
TEST(SizeClass, MagazinesHaveSlotsOfTheirOwnAndASentinelBetween) {
    std::set<std::uint32_t> taken;
    const auto take = [&taken](std::uint32_t begin, std::uint32_t slots) {
        for (std::uint32_t slot = begin - 1; slot < begin + slots; ++slot)
            EXPECT_TRUE(taken.insert(slot).second) << slot;
    };
    for (std::uint32_t c = 1; c < kClassCount; ++c) {
        const ClassShape &shape = shape_of(ClassIndex(c));
        EXPECT_GE(shape.magazine_slots, kMagazineMinSlots);
        EXPECT_LE(shape.magazine_slots, kMagazineMaxSlots);
        if (shape.magazine_slots > kMagazineMinSlots) {
            EXPECT_LE(shape.magazine_slots * shape.size, kMagazineClassBytes);
        }
        const std::uint32_t narrow = std::min(shape.magazine_slots, kMagazineNarrowSlots);
        take(shape.slots_begin(narrow), narrow);
        if (shape.magazine_slots > narrow) take(shape.slots_begin(shape.magazine_slots), shape.magazine_slots);
    }
    EXPECT_EQ(taken.size(), kMagazineSlotsTotal) << "there are gaps";
    EXPECT_EQ(*taken.rbegin() + 1, kMagazineSlotsTotal);
}

}  // namespace gr::size_class_test
