// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the unit tests of lab/parts/hoard/fullness_groups.hpp.
// Invariant: superblocks lie in memory of the test.
// Must not know: heaps.
#include "parts/hoard/fullness_groups.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "lab/parts/validity.hpp"

namespace gr::lab::fullness_groups_test {

constexpr std::size_t kBytes = 8 * kKiB;
constexpr std::size_t kSize = 1008;
constexpr std::size_t kBlocks = (kBytes - sizeof(Container)) / kSize;  // 8
static_assert(kBlocks == 8);

class Groups : public testing::Test {
  protected:
    Container *make(std::size_t used = 0) {
        Place &place = *places_.emplace_back(std::make_unique<Place>());
        char *const begin = &place.bytes[0];
        auto *const s = new (begin) Container(begin + sizeof(Container), kBytes - sizeof(Container));
        s->format(0, kSize);
        for (std::size_t i = 0; i < used; ++i) blocks_.push_back(s->take());
        groups_.add(s);
        return s;
    }
    FullnessGroups groups_;
    std::vector<void *> blocks_;

  private:
    struct Place {
        alignas(kCacheLineBytes) char bytes[kBytes];
    };
    std::vector<std::unique_ptr<Place>> places_;
};

TEST_F(Groups, SumUpWhatSuperblocksHold) {
    make(3);
    Container *const s = make(5);
    make(8);
    EXPECT_EQ(groups_.used(), 16U);
    EXPECT_EQ(groups_.blocks(), 24U);
    EXPECT_TRUE(is_valid(groups_));
    groups_.remove(s);
    EXPECT_EQ(groups_.used(), 11U);
    EXPECT_EQ(groups_.blocks(), 16U);
    EXPECT_TRUE(is_valid(groups_));
}

TEST_F(Groups, AllocateFromNearlyFullBeforeEmpty) {
    make(0);
    make(8);
    Container *const nearly_full = make(6);
    make(3);
    EXPECT_EQ(groups_.fullest(), nearly_full);
    groups_.take(nearly_full);
    EXPECT_EQ(groups_.fullest(), nearly_full);
    groups_.take(nearly_full);
    EXPECT_NE(groups_.fullest(), nearly_full) << "it is full";
    EXPECT_TRUE(is_valid(groups_));
}

TEST_F(Groups, WithNothingFreeHaveNone) {
    EXPECT_EQ(groups_.fullest(), nullptr);
    EXPECT_EQ(groups_.emptiest(), nullptr);
    Container *const s = make(8);
    EXPECT_EQ(groups_.fullest(), nullptr);
    EXPECT_EQ(groups_.emptiest(), s);
}

TEST_F(Groups, WhatWasFreedIntoLastComesFirst) {
    Container *const first = make(6);
    void *const block = blocks_.back();
    make(5);
    Container *const last = make(5);
    EXPECT_EQ(groups_.emptiest(), last);
    groups_.put(first, block);
    EXPECT_EQ(groups_.emptiest(), first);
    EXPECT_EQ(groups_.take(first), block) << "last in, first out";
}

// f = 1/4: of 16 blocks 12 must be in use, or all but K superblocks.
TEST_F(Groups, CrossTheThresholdWhereBothBoundsAreLeft) {
    Container *const s = make(5);
    make(8);
    EXPECT_FALSE(groups_.crosses({2, 0})) << "13 of 16";
    groups_.put(s, blocks_[0]);
    EXPECT_FALSE(groups_.crosses({2, 0})) << "12 of 16";
    groups_.put(s, blocks_[1]);
    EXPECT_TRUE(groups_.crosses({2, 0})) << "11 of 16";
    EXPECT_FALSE(groups_.crosses({2, 1})) << "one superblock may be free";
    EXPECT_FALSE(groups_.crosses({3, 0})) << "10 of 16 may be in use";
    EXPECT_EQ(groups_.emptiest(), s);
}

// 3.1: a heap that crosses the threshold has a superblock at least f empty, and it is found.
TEST_F(Groups, TheEmptiestIsAtLeastFEmptyWhereTheThresholdIsCrossed) {
    std::mt19937 random(1);
    for (int i = 0; i < 40; ++i) make(random() % 6 == 0 ? random() % (kBlocks + 1) : 0);
    for (std::size_t f = 1; f < EmptinessThreshold::kGroups; ++f) {
        std::vector<Container *> removed;
        while (groups_.crosses({f, 0})) {
            Container *const s = groups_.emptiest();
            ASSERT_LE(s->used * EmptinessThreshold::kGroups, (EmptinessThreshold::kGroups - f) * s->blocks);
            groups_.remove(s);
            removed.push_back(s);
        }
        EXPECT_FALSE(removed.empty());
        for (Container *const s : removed) groups_.add(s);
    }
    EXPECT_TRUE(is_valid(groups_));
}

TEST_F(Groups, ABlockFreedOnceMoreThanTakenEnds) {
    Container *const s = make(0);
    EXPECT_DEATH(groups_.put(s, s->first_block), "not a block in use");
}

}  // namespace gr::lab::fullness_groups_test
