// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the side table of direct blocks: insertion, lookup, release once, resizing, refusals of the kernel.
// Invariant: after every test nothing is left mapped or counted.
// Must not know: the region.
#include "heap/direct.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "fake/memory.hpp"
#include "platform/memory.hpp"

namespace gr::direct_test {

using fake::Call;

class DirectTest : public testing::Test {
  protected:
    // The table is the process's: refused once, it is made with the next block.
    static void SetUpTestSuite() {
        fake::reset();
        const std::size_t before = fake::mapped_bytes();
        Direct direct;
        fake::fail(Call::map, 1, 1);
        EXPECT_EQ(direct.allocate(1, 1), nullptr);
        EXPECT_EQ(fake::mapped_bytes(), before) << "a block that stands in no table";
        EXPECT_EQ(Direct::entries(), nullptr);
        EXPECT_TRUE(Direct::make_table());
        EXPECT_EQ(Direct::entry_count(), kDirectTableEntries);
    }
    void SetUp() override {
        fake::reset();
        mapped_before_ = fake::mapped_bytes();
    }
    void TearDown() override {
        EXPECT_EQ(direct_.count(), 0U);
        EXPECT_EQ(direct_.bytes(), 0U);
        EXPECT_EQ(fake::mapped_bytes(), mapped_before_) << "a mapping was lost";
    }
    Direct direct_;
    std::size_t mapped_before_ = 0;
    const std::size_t page_ = platform::page_size();
};

TEST_F(DirectTest, BlocksAreZeroAlignedAndReleasedOnce) {
    for (std::size_t alignment = 1; alignment <= 4 * kMiB; alignment *= 4) {
        char *const p = static_cast<char *>(direct_.allocate(3 * page_ + 1, alignment));
        ASSERT_NE(p, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % alignment, 0U);
        EXPECT_EQ(direct_.size_of(p), 4 * page_);
        EXPECT_EQ(direct_.size_of(p + 1), 0U);
        EXPECT_EQ(direct_.size_of(p + page_), 0U);
        EXPECT_EQ(p[0] | p[4 * page_ - 1], 0);
        EXPECT_FALSE(direct_.release(p + page_));
        EXPECT_TRUE(direct_.release(p));
        EXPECT_FALSE(direct_.release(p));
        EXPECT_EQ(direct_.size_of(p), 0U);
    }
}

TEST_F(DirectTest, HugePagesAreAllowedAsThePolicySays) {
    struct Case {
        HugePolicy policy;
        std::size_t bytes;
        std::vector<bool> told;
    };
    const Case cases[] = {{HugePolicy::automatic, 2 * kChunkBytes, {}},
                          {HugePolicy::never, kChunkBytes, {false}},
                          {HugePolicy::always, kChunkBytes, {true}},
                          {HugePolicy::always, kChunkBytes - page_, {}}};
    for (const Case &c : cases) {
        fake::reset();
        direct_.use_huge_pages(c.policy);
        void *const p = direct_.allocate(c.bytes, 1);
        std::vector<bool> told;
        for (const fake::Allowed &call : fake::allowed()) {
            EXPECT_EQ(call.begin, p);
            EXPECT_EQ(call.bytes, c.bytes);
            told.push_back(call.allowed);
        }
        EXPECT_EQ(told, c.told) << c.bytes << " bytes";
        EXPECT_TRUE(direct_.release(p));
    }
}

TEST_F(DirectTest, TheTablesOwnMarksAreNoBlocks) {
    for (std::uintptr_t mark = 0; mark < 8; ++mark) {
        void *const p = reinterpret_cast<void *>(mark);
        EXPECT_FALSE(direct_.release(p));
        EXPECT_EQ(direct_.size_of(p), 0U);
        EXPECT_EQ(direct_.resize(p, 1), nullptr);
    }
}

TEST_F(DirectTest, AgreesWithAMap) {
    std::mt19937 random{5};
    std::map<char *, std::size_t> live;
    for (int step = 0; step < 20000; ++step) {
        const std::size_t bytes = (1 + random() % 8) * page_;
        if (live.empty() || (live.size() < 3000 && random() % 2 == 0)) {
            char *const p = static_cast<char *>(direct_.allocate(bytes, 1));
            ASSERT_NE(p, nullptr);
            ASSERT_TRUE(live.emplace(p, bytes).second);
            *p = static_cast<char>(step);
            continue;
        }
        auto at = live.lower_bound(reinterpret_cast<char *>(std::uintptr_t{random()} << 16 | random()));
        if (at == live.end()) at = live.begin();
        ASSERT_EQ(direct_.size_of(at->first), at->second);
        if (random() % 4 == 0) {
            const char first = *at->first;
            char *const moved = static_cast<char *>(direct_.resize(at->first, bytes));
            ASSERT_NE(moved, nullptr);
            ASSERT_EQ(*moved, first);
            live.erase(at);
            live[moved] = bytes;
        } else {
            ASSERT_TRUE(direct_.release(at->first));
            live.erase(at);
        }
        ASSERT_EQ(direct_.count(), live.size());
    }
    for (const auto &[p, bytes] : live) ASSERT_TRUE(direct_.release(p));
}

TEST_F(DirectTest, RefusalsOfTheKernelLeaveTheBlock) {
    fake::fail(Call::map, 0, 1);
    EXPECT_EQ(direct_.allocate(page_, 1), nullptr);
    EXPECT_EQ(direct_.allocate(SIZE_MAX, 1), nullptr);
    EXPECT_EQ(direct_.allocate(SIZE_MAX - 2 * page_, 1), nullptr);
    char *const p = static_cast<char *>(direct_.allocate(page_, 1));
    ASSERT_NE(p, nullptr);
    *p = 'x';
    fake::fail(Call::remap, 0, 1);
    EXPECT_EQ(direct_.resize(p, 2 * page_), nullptr);
    EXPECT_EQ(direct_.resize(p, SIZE_MAX), nullptr);
    EXPECT_EQ(direct_.size_of(p), page_);
    EXPECT_EQ(*p, 'x');
    EXPECT_EQ(direct_.resize(p, page_ - 1), p) << "as large as before";
    EXPECT_TRUE(direct_.release(p));
    EXPECT_EQ(direct_.resize(p, 2 * page_), nullptr) << "released already";
}

TEST_F(DirectTest, ResizesInPlaceOrNotAtAll) {
    MemoryLimit limit;
    limit.initialise(MemoryLimit::kNone, 8 * page_);
    direct_.count_against(&limit);
    char *const p = static_cast<char *>(direct_.allocate(6 * page_, 1));
    ASSERT_NE(p, nullptr);
    *p = 'x';
    EXPECT_TRUE(direct_.resize_in_place(p, 2 * page_ - 1));
    EXPECT_EQ(direct_.size_of(p), 2 * page_);
    EXPECT_EQ(direct_.bytes(), 2 * page_);
    EXPECT_EQ(limit.held(), 2 * page_);
    EXPECT_TRUE(direct_.resize_in_place(p, 5 * page_));
    EXPECT_EQ(direct_.size_of(p), 5 * page_);
    EXPECT_EQ(direct_.bytes(), 5 * page_);
    EXPECT_EQ(limit.held(), 5 * page_);
    EXPECT_EQ(direct_.peak_bytes(), 6 * page_);
    EXPECT_FALSE(direct_.resize_in_place(p, 9 * page_)) << "above the hard limit";
    fake::fail(Call::remap, 0, 1);
    EXPECT_FALSE(direct_.resize_in_place(p, 6 * page_));
    EXPECT_FALSE(direct_.resize_in_place(p, SIZE_MAX));
    EXPECT_EQ(direct_.size_of(p), 5 * page_);
    EXPECT_EQ(limit.held(), 5 * page_);
    EXPECT_TRUE(direct_.resize_in_place(p, 0));
    EXPECT_EQ(direct_.size_of(p), page_);
    EXPECT_EQ(*p, 'x');
    EXPECT_EQ(direct_.count(), 1U);
    EXPECT_TRUE(direct_.release(p));
    EXPECT_FALSE(direct_.resize_in_place(p, page_)) << "released already";
    EXPECT_EQ(limit.held(), 0U);
}

TEST_F(DirectTest, ForbiddenNoBlockIsMappedAndNoneGrows) {
    void *const p = direct_.allocate(4 * page_, 1);
    ASSERT_NE(p, nullptr);
    direct_.forbid();
    EXPECT_EQ(direct_.allocate(page_, 1), nullptr);
    EXPECT_EQ(direct_.resize(p, 5 * page_), nullptr);
    EXPECT_FALSE(direct_.resize_in_place(p, 5 * page_));
    EXPECT_EQ(direct_.bytes(), 4 * page_);
    EXPECT_TRUE(direct_.resize_in_place(p, 3 * page_));
    EXPECT_TRUE(direct_.release(p));
}

// A full table of mappings, and pages that the kernel does not take back.
TEST_F(DirectTest, WhatTheKernelDidNotTakeGoesWithTheNext) {
    constexpr int kBlocks = 3;
    MemoryLimit limit;
    limit.initialise(MemoryLimit::kNone, MemoryLimit::kNone);
    direct_.count_against(&limit);
    const std::size_t before = fake::mapped_bytes();
    std::vector<void *> blocks(kBlocks + 1);
    for (void *&block : blocks) block = direct_.allocate(page_, 1);
    fake::fail(fake::Call::unmap, 0, kBlocks);
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(direct_.release(blocks[static_cast<std::size_t>(i)]));
    EXPECT_EQ(direct_.size_of(blocks[0]), 0U) << "freed is freed";
    EXPECT_FALSE(direct_.release(blocks[0]));
    EXPECT_EQ(fake::mapped_bytes(), before + blocks.size() * page_);
    EXPECT_EQ(limit.held(), blocks.size() * page_);
    for (int i = 2; i <= kBlocks; ++i) EXPECT_TRUE(direct_.release(blocks[static_cast<std::size_t>(i)]));
    EXPECT_EQ(fake::mapped_bytes(), before);
    EXPECT_EQ(limit.held(), 0U);
}

TEST_F(DirectTest, ManyBlocksAtOnceAreAllFound) {
    std::vector<void *> blocks;
    for (int i = 0; i < 20000; ++i) {
        void *const p = direct_.allocate(1, 1);
        if (p == nullptr) break;
        blocks.push_back(p);
    }
    EXPECT_GT(blocks.size(), 10000U);
    for (void *p : blocks) ASSERT_EQ(direct_.size_of(p), page_);
    for (void *p : blocks) ASSERT_TRUE(direct_.release(p));
    for (void *p : blocks) ASSERT_EQ(direct_.size_of(p), 0U);
}

TEST_F(DirectTest, ThePeakIsTheMostAtOnce) {
    void *const a = direct_.allocate(3 * page_, 1);
    void *b = direct_.allocate(2 * page_, 1);
    EXPECT_TRUE(direct_.release(a));
    EXPECT_EQ(direct_.peak_bytes(), 5 * page_);
    b = direct_.resize(b, 4 * page_);
    EXPECT_EQ(direct_.peak_bytes(), 5 * page_) << "the old size went before the new one came";
    b = direct_.resize(b, 6 * page_);
    EXPECT_EQ(direct_.peak_bytes(), 6 * page_);
    EXPECT_TRUE(direct_.release(b));
    EXPECT_EQ(direct_.peak_bytes(), 6 * page_);
}

// The table is used for ever: an entry that a release or a resize left is used again.
TEST_F(DirectTest, EntriesDoNotWearOut) {
    char *p = static_cast<char *>(direct_.allocate(page_, 1));
    for (unsigned i = 0; i < kDirectTableEntries + 10; ++i) {
        ASSERT_TRUE(direct_.release(direct_.allocate(1, 1))) << i;
        p = static_cast<char *>(direct_.resize(p, (1 + i % 2) * page_));
        ASSERT_NE(p, nullptr) << i;
        ASSERT_EQ(direct_.size_of(p), (1 + i % 2) * page_) << i;
    }
    EXPECT_TRUE(direct_.release(p));
}

// The table is the process's, its blocks are not.
TEST_F(DirectTest, ABlockIsKnownToWhoMappedItOnly) {
    Direct other;
    void *const mine = direct_.allocate(page_, 1);
    void *const theirs = other.allocate(2 * page_, 1);
    EXPECT_EQ(other.size_of(mine), 0U);
    EXPECT_EQ(direct_.size_of(theirs), 0U);
    EXPECT_FALSE(other.release(mine));
    EXPECT_FALSE(direct_.release(theirs));
    EXPECT_EQ(other.resize(mine, 3 * page_), nullptr);
    void *const moved = other.resize(theirs, 5 * page_);
    EXPECT_EQ(direct_.size_of(moved), 0U) << "after it moved, too";
    EXPECT_EQ(direct_.bytes(), page_);
    EXPECT_EQ(other.bytes(), 5 * page_);
    EXPECT_TRUE(direct_.release(mine));
    EXPECT_TRUE(other.release(moved));
}

TEST_F(DirectTest, ReleasingAllLeavesOthersBlocks) {
    Direct other;
    std::vector<void *> mine;
    for (int i = 0; i < 300; ++i) {
        mine.push_back(direct_.allocate(1, 1));
        ASSERT_NE(other.allocate(3 * page_, 1), nullptr);
    }
    ASSERT_TRUE(direct_.release(mine.back()));
    mine.pop_back();
    const std::size_t mapped = fake::mapped_bytes();
    other.release_all();
    EXPECT_EQ(other.count(), 0U);
    EXPECT_EQ(other.bytes(), 0U);
    EXPECT_EQ(fake::mapped_bytes(), mapped - 300 * 3 * page_);
    for (void *p : mine) ASSERT_TRUE(direct_.release(p));
}

// Two threads free the same block: one of them is told that it was the second.
TEST_F(DirectTest, OneOfTwoReleasesLoses) {
    for (int round = 0; round < 200; ++round) {
        void *const p = direct_.allocate(1, 1);
        int released = 0;
        bool theirs = false;
        std::thread other([&] { theirs = direct_.release(p); });
        if (direct_.release(p)) ++released;
        other.join();
        if (theirs) ++released;
        ASSERT_EQ(released, 1);
    }
}

TEST_F(DirectTest, EveryMappingCountsAgainstTheLimitAndNoRefusal) {
    MemoryLimit limit;
    void *const before = direct_.allocate(page_, 1);
    direct_.count_against(&limit);
    EXPECT_EQ(limit.held(), page_);
    limit.initialise(MemoryLimit::kNone, 10 * page_);
    void *p = direct_.allocate(5 * page_, 1);
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(direct_.allocate(5 * page_, 1), nullptr);
    EXPECT_EQ(direct_.resize(p, 10 * page_), nullptr);
    p = direct_.resize(p, 9 * page_);
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(limit.held(), 10 * page_);
    p = direct_.resize(p, 2 * page_);
    EXPECT_EQ(limit.held(), 3 * page_);
    fake::fail(Call::remap, 0, 1);
    EXPECT_EQ(direct_.resize(p, 3 * page_), nullptr);
    fake::fail(Call::map, 0, 1);
    EXPECT_EQ(direct_.allocate(page_, 1), nullptr);
    EXPECT_EQ(limit.held(), 3 * page_);
    EXPECT_TRUE(direct_.release(p));
    EXPECT_TRUE(direct_.release(before));
    EXPECT_EQ(limit.held(), 0U);
}

}  // namespace gr::direct_test
