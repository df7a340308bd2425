// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the search tree of free blocks against a set of sizes and addresses.
// Invariant: valid after every step.
// Must not know: how the tree is balanced; neighbours and heaps.
#include "parts/layout/size_tree.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "lab/parts/validity.hpp"
#include "parts/layout/free_ranges.hpp"

namespace gr::lab::size_tree_test {

static_assert(FreeIndex<SizeTree>);

// Blocks of few sizes, so that many have the same. A block's tag may tell more bytes than it has here.
TEST(SizeTreeTest, FindsTheTightestOfTheLowestAddress) {
    constexpr std::size_t kBlocks = 300;
    constexpr std::size_t kPlace = 4 * kAlignment;
    constexpr std::size_t kSizes = 40;
    alignas(kAlignment) static char memory[(kBlocks + 1) * kPlace];
    std::vector<char *> outside;
    for (std::size_t i = 0; i < kBlocks; ++i) outside.push_back(memory + i * kPlace + kAlignment);
    std::set<std::pair<std::size_t, char *>> reference;
    SizeTree tree;
    std::mt19937 random(41);
    std::size_t sum = 0;
    for (int i = 0; i < 20000; ++i) {
        const std::size_t bytes = kPlace + random() % kSizes * kAlignment;
        if (random() % 2 == 0 && !outside.empty()) {
            std::swap(outside[random() % outside.size()], outside.back());
            char *const block = outside.back();
            outside.pop_back();
            set_tag(block, {static_cast<std::uint32_t>(bytes), 0, BlockState::free});
            tree.insert(block);
            reference.insert({bytes, block});
            sum += bytes;
        } else {
            const auto expected = reference.lower_bound({bytes, nullptr});
            ASSERT_EQ(tree.find(bytes), expected == reference.end() ? nullptr : expected->second);
            if (expected == reference.end()) continue;
            tree.remove(expected->second);
            sum -= expected->first;
            outside.push_back(expected->second);
            reference.erase(expected);
        }
        ASSERT_EQ(tree.bytes(), sum);
        ASSERT_TRUE(is_valid(tree));
    }
}

// What a wrong size leaves behind.
TEST(SizeTreeTest, IsNotValidWhereABlockChangedItsSize) {
    alignas(kAlignment) char memory[3][4 * kAlignment];
    SizeTree tree;
    for (char(&place)[4 * kAlignment] : memory) {
        set_tag(place + kAlignment, {64, 0, BlockState::free});
        tree.insert(place + kAlignment);
    }
    ASSERT_TRUE(is_valid(tree));
    set_tag(memory[1] + kAlignment, {80, 0, BlockState::free});
    EXPECT_FALSE(is_valid(tree));
}

}  // namespace gr::lab::size_tree_test
