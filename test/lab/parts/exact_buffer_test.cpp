// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the buffer of blocks of any size against a reference: which request it serves, when it is over, what it gives away.
// Invariant: a block that was put is taken or given away once.
// Must not know: heaps.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

#include "parts/stores/coalescing_store.hpp"
#include "parts/stores/free_list_buffer.hpp"

namespace gr::lab::exact_buffer_test {

using Store = CoalescingStore<thread_heaps + coalescing>;
using Buffer = ExactBuffer<Store>;
using Ranges = RangeBins<Store::Bins, Fit::first_of_bin>;
static_assert(FreeListBufferLike<Buffer>);

class ExactBufferTest : public testing::Test {
  protected:
    // So long that a tag and a list's node fit.
    static constexpr std::size_t kPlace = 2 * kAlignment;

    void *block_of(std::size_t bytes) {
        void *const block = memory + kPlace * used++ + kAlignment;
        set_tag(block, {static_cast<std::uint32_t>(bytes), 1, BlockState::cached});
        return block;
    }

    alignas(kAlignment) char memory[kPlace * 30000] = {};
    std::size_t used = 0;
    Buffer buffer;
};

TEST_F(ExactBufferTest, ServesTheRequestsBinAndTheNext) {
    std::mt19937 random(3);
    std::map<unsigned, std::multiset<void *>> reference;
    std::size_t sum = 0;
    std::size_t served_by_next = 0;
    std::size_t cleared = 0;
    for (int i = 0; i < 40000; ++i) {
        const std::size_t size = random() % (std::size_t{32} << random() % 8);
        const std::size_t bytes = Store::bytes_for(size);
        if (random() % 2 == 0 && used < 29000) {
            void *const block = block_of(bytes);
            reference[Ranges::bin_of(block)].insert(block);
            sum += bytes;
            bool is_over = false;
            buffer.put(block, [&](void *given) {
                is_over = true;
                ASSERT_EQ(reference[Ranges::bin_of(given)].erase(given), 1U);
            });
            ASSERT_EQ(is_over, sum >= 64 * kKiB);
            if (!is_over) continue;
            for (const auto &[bin, blocks] : reference) ASSERT_TRUE(blocks.empty());
            sum = 0;
            ++cleared;
            continue;
        }
        const unsigned bin = Ranges::bin_of_bytes(bytes);
        bool fits = false;
        for (const void *const block : reference[bin]) fits = fits || Store::bytes_of(block) >= bytes;
        const bool fits_next = bin + 1 < Store::Bins::kCount && !reference[bin + 1].empty();
        void *const block = buffer.take(size);
        ASSERT_EQ(block != nullptr, fits || fits_next);
        if (block == nullptr) continue;
        ASSERT_GE(Store::bytes_of(block), bytes);
        ASSERT_EQ(Ranges::bin_of(block), fits ? bin : bin + 1);
        ASSERT_EQ(reference[Ranges::bin_of(block)].erase(block), 1U);
        served_by_next += fits ? 0 : 1;
        sum -= Store::bytes_of(block);
    }
    EXPECT_GT(served_by_next, 0U);
    EXPECT_GT(cleared, 0U);
}

TEST_F(ExactBufferTest, TheLargestBlockMakesItOver) {
    void *const small = block_of(Store::kLeastBytes);
    void *const large = block_of(Store::kWholeBytes);
    std::set<void *> given;
    const auto give = [&given](void *block) { given.insert(block); };
    buffer.put(small, give);
    EXPECT_TRUE(given.empty());
    buffer.put(large, give);
    EXPECT_EQ(given, (std::set<void *>{small, large}));
    EXPECT_EQ(buffer.take(Store::largest()), nullptr);
    EXPECT_EQ(buffer.take(0), nullptr);
    buffer.put(large, give);
    EXPECT_EQ(buffer.take(Store::largest()), large);
    buffer.put(small, give);
    EXPECT_EQ(buffer.take(0), small);
    EXPECT_EQ(buffer.take(0), nullptr);
}

// A block is given back at the size that it was freed with: what is asked for again is the same block, unsplit.
TEST_F(ExactBufferTest, ABlockKeepsItsSize) {
    void *const block = block_of(1024);
    buffer.put(block, [](void *) { FAIL(); });
    EXPECT_EQ(buffer.take(900), block);
    EXPECT_EQ(Store::bytes_of(block), 1024U);
}

}  // namespace gr::lab::exact_buffer_test
