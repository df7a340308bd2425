// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the thread-local free-list buffer: what it gives again, and when it gives all away (Wasik 5.6).
// Invariant: a block that was put is taken or given away, once.
// Must not know: a store.
#include "parts/stores/free_list_buffer.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <set>

namespace gr::lab::free_list_buffer_test {

// Of two sizes, the second in blocks that say so.
struct Store {
    struct Block {
        void *link;
        unsigned bin;
    };
    static constexpr unsigned kBins = 2;
    static constexpr std::size_t kSizes[kBins] = {kKiB, 16 * kKiB};

    static unsigned bin_of(std::size_t size) { return size <= kSizes[0] ? 0 : 1; }
    static unsigned bin_of_block(const void *block) { return static_cast<const Block *>(block)->bin; }
    static std::size_t size_of(unsigned bin) { return kSizes[bin]; }
};
static_assert(FreeListBufferLike<FreeListBuffer<Store>>);

constexpr std::size_t kMostOfLarge = 2 * kUnitBytes / Store::kSizes[1];

class FreeListBufferTest : public testing::Test {
  protected:
    void put(unsigned bin) {
        blocks_.push_back({nullptr, bin});
        buffer_.put(&blocks_.back(), [this](void *block) { EXPECT_TRUE(given_.insert(block).second); });
    }

    std::deque<Store::Block> blocks_;
    std::set<void *> given_;
    FreeListBuffer<Store> buffer_;
};

TEST_F(FreeListBufferTest, GivesWhatWasPutLast) {
    put(0);
    put(1);
    put(0);
    EXPECT_EQ(buffer_.take(100), &blocks_[2]);
    EXPECT_EQ(buffer_.take(100), &blocks_[0]);
    EXPECT_EQ(buffer_.take(100), nullptr);
    EXPECT_EQ(buffer_.take(Store::kSizes[1]), &blocks_[1]);
}

TEST_F(FreeListBufferTest, AllListsAreGivenAwayWhenOneIsFull) {
    put(0);
    for (std::size_t i = 0; i < kMostOfLarge; ++i) put(1);
    EXPECT_TRUE(given_.empty());
    put(1);
    EXPECT_EQ(given_.size(), kMostOfLarge + 2);
    EXPECT_EQ(buffer_.take(100), nullptr);
    EXPECT_EQ(buffer_.take(Store::kSizes[1]), nullptr);
}

}  // namespace gr::lab::free_list_buffer_test
