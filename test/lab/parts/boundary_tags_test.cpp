// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: boundary tags of one region against a list of its blocks: split, found, joined; and what is found written over.
// Invariant: the blocks fill the region but for its first and last 8 bytes.
// Must not know: lists and heaps.
#include "parts/layout/boundary_tags.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <random>

#include "base/config.hpp"
#include "lab/parts/free_blocks.hpp"

namespace gr::lab::boundary_tags_test {

using Tags = BoundaryTags<64 * kKiB>;

class BoundaryTagsTest : public testing::Test {
  protected:
    BoundaryTagsTest() { std::memset(region, 0, Tags::kRegionBytes); }
    ~BoundaryTagsTest() override { std::free(region); }

    char *const region = static_cast<char *>(std::aligned_alloc(Tags::kRegionBytes, Tags::kRegionBytes));
};
using BoundaryTagsDeathTest = BoundaryTagsTest;

TEST_F(BoundaryTagsTest, ARequestFitsBetweenTheTags) {
    for (std::size_t size = 0; size <= Tags::kWholeBytes - Tags::kTagsBytes; ++size) {
        const std::size_t bytes = Tags::bytes_for(size);
        ASSERT_EQ(bytes % kAlignment, 0U);
        ASSERT_GE(bytes, size + Tags::kTagsBytes);
        ASSERT_LT(bytes, size + Tags::kTagsBytes + Tags::kLeastBytes);
    }
    EXPECT_EQ(Tags::bytes_for(Tags::kWholeBytes - Tags::kTagsBytes), Tags::kWholeBytes);
}

TEST_F(BoundaryTagsTest, AWholeRegionHasNoNeighbours) {
    void *const block = Tags::make_whole(region);
    EXPECT_EQ(Tags::bytes_of(block), Tags::kWholeBytes);
    expect_both_tags(block);
    for (const HeapNumber heap : {0U, 1U}) {
        EXPECT_EQ(Tags::free_before(block, heap), nullptr);
        EXPECT_EQ(Tags::free_after(block, heap), nullptr);
    }
    std::memset(block, 'x', Tags::kWholeBytes - Tags::kTagsBytes);
    expect_both_tags(block);
    for (std::size_t at = 0; at < kTagBytes; ++at) {
        EXPECT_EQ(region[at], 0);
        EXPECT_EQ(region[Tags::kRegionBytes - 1 - at], 0);
    }
}

TEST_F(BoundaryTagsTest, ARestThatWouldBeNoBlockStays) {
    void *const block = Tags::make_whole(region);
    EXPECT_EQ(Tags::split(block, Tags::kWholeBytes), nullptr);
    EXPECT_EQ(Tags::split(block, Tags::kWholeBytes - kAlignment), nullptr);
    EXPECT_EQ(Tags::bytes_of(block), Tags::kWholeBytes);
    void *const rest = Tags::split(block, Tags::kWholeBytes - Tags::kLeastBytes);
    ASSERT_NE(rest, nullptr);
    EXPECT_EQ(Tags::bytes_of(rest), Tags::kLeastBytes);
}

// Two heaps, splits and joins in any order; the reference knows each block's bytes, heap and state.
TEST_F(BoundaryTagsTest, SplitsAndJoinsAsTheReference) {
    struct Block {
        std::size_t bytes;
        HeapNumber heap;
        BlockState state;
    };
    std::map<char *, Block> blocks;
    char *const first = static_cast<char *>(Tags::make_whole(region));
    blocks[first] = {Tags::kWholeBytes, 0, BlockState::cached};
    std::mt19937 random(16);
    const auto is_free = [](const Block &block, HeapNumber heap) {
        return block.state == BlockState::free && block.heap == heap;
    };
    std::size_t joined = 0;
    for (int i = 0; i < 20000; ++i) {
        auto it = std::next(blocks.begin(), static_cast<long>(random() % blocks.size()));
        auto &[block, is] = *it;
        switch (random() % 3) {
            case 0: {
                const std::size_t bytes = Tags::kLeastBytes + random() % (is.bytes - Tags::kLeastBytes + kAlignment) /
                                                                  kAlignment * kAlignment;
                char *const rest = static_cast<char *>(Tags::split(block, bytes));
                ASSERT_EQ(rest != nullptr, is.bytes - bytes >= Tags::kLeastBytes);
                if (rest == nullptr) break;
                ASSERT_EQ(rest, block + bytes);
                blocks[rest] = {is.bytes - bytes, is.heap, is.state};
                is.bytes = bytes;
                break;
            }
            case 1: {
                constexpr BlockState kStates[] = {BlockState::free, BlockState::free, BlockState::cached,
                                                  BlockState::in_use};
                is.heap = random() % 2;
                is.state = kStates[random() % 4];
                Tags::set_tags(block, is.bytes, is.heap, is.state);
                break;
            }
            default: {
                const auto after = std::next(it);
                if (after == blocks.end() || random() % 4 != 0) break;
                ASSERT_EQ(Tags::join(block, after->first), block);
                is.bytes += after->second.bytes;
                blocks.erase(after);
                ++joined;
            }
        }
        char *end = first;
        for (auto at = blocks.begin(); at != blocks.end(); ++at) {
            const auto &[address, block_is] = *at;
            ASSERT_EQ(address, end);
            ASSERT_EQ(Tags::bytes_of(address), block_is.bytes);
            expect_both_tags(address);
            const HeapNumber heap = i % 2 == 0 ? 0 : 1;
            char *const before =
                at != blocks.begin() && is_free(std::prev(at)->second, heap) ? std::prev(at)->first : nullptr;
            const auto next = std::next(at);
            char *const after = next != blocks.end() && is_free(next->second, heap) ? next->first : nullptr;
            ASSERT_EQ(Tags::free_before(address, heap), before);
            ASSERT_EQ(Tags::free_after(address, heap), after);
            end += block_is.bytes;
        }
        ASSERT_EQ(end, first + Tags::kWholeBytes);
    }
    EXPECT_GT(joined, 100U);
}

TEST_F(BoundaryTagsDeathTest, WhatWasJoinedIsNoBlockAnyMore) {
    void *const block = Tags::make_whole(region);
    void *const rest = Tags::split(block, 4096);
    EXPECT_EQ(Tags::block_of(Tags::hand_out(rest)), rest);
    Tags::join(block, rest);
    EXPECT_DEATH(Tags::block_of(rest), "not a block in use");
}

TEST_F(BoundaryTagsDeathTest, WhatLiesBehindABlockWasWrittenOver) {
    void *const block = Tags::hand_out(Tags::make_whole(region));
    char *const rest = static_cast<char *>(Tags::split(block, Tags::bytes_for(100)));
    std::memset(block, 'x', Tags::usable_size(block));
    Tags::take_back(block);
    Tags::hand_out(block);
    rest[-16] = 'x';
    EXPECT_DEATH(Tags::take_back(block), "free\\(0x.*\\): memory behind the block was overwritten");
}

TEST_F(BoundaryTagsDeathTest, AHeaderWithBytesThatNoBlockHas) {
    void *const block = Tags::hand_out(Tags::make_whole(region));
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{16}, std::size_t{40}, Tags::kRegionBytes}) {
        set_tag(block, {static_cast<std::uint32_t>(bytes), 0, BlockState::in_use});
        EXPECT_DEATH(Tags::take_back(block), "not a block in use") << bytes;
    }
}

TEST_F(BoundaryTagsDeathTest, WhatIsFreedTwice) {
    void *const block = Tags::hand_out(Tags::make_whole(region));
    Tags::take_back(Tags::block_of(block));
    EXPECT_DEATH(Tags::take_back(Tags::block_of(block)), "already freed");
}

}  // namespace gr::lab::boundary_tags_test
