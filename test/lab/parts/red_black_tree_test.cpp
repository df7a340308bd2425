// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the red-black tree against std::set, by random insertions and removals.
// Invariant: valid after every step.
// Must not know: how it is balanced.
#include "parts/lists/red_black_tree.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <deque>
#include <numeric>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "lab/parts/validity.hpp"

namespace gr::lab::red_black_tree_test {

struct Number : TreeNode {
    int value = 0;
};
struct ByValue {
    static int key(const Number &number) { return number.value; }
};
using Tree = RedBlackTree<Number, ByValue>;

RC_GTEST_PROP(RedBlackTreeTest, HoldsWhatASetHolds, ()) {
    const auto most = *rc::gen::inRange(1, 200);
    const auto values = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, most));
    Tree tree;
    std::deque<Number> numbers;
    std::set<int> model;
    // What is there leaves, what is not comes.
    for (const int value : values) {
        Number *const found = tree.find(value);
        RC_ASSERT((found != nullptr) == model.contains(value));
        if (found != nullptr) {
            RC_ASSERT(found->value == value);
            tree.remove(found);
            model.erase(value);
        } else {
            numbers.emplace_back().value = value;
            tree.insert(&numbers.back());
            model.insert(value);
        }
        RC_ASSERT(is_valid(tree));
        const auto from = model.lower_bound(most / 2);
        const Number *const first = tree.first_from(most / 2);
        RC_ASSERT((first == nullptr) == (from == model.end()));
        if (first != nullptr) RC_ASSERT(first->value == *from);
    }
    for (int value = 0; value < most; ++value) RC_ASSERT((tree.find(value) != nullptr) == model.contains(value));
}

TEST(RedBlackTreeTest, ManyInEveryOrderAndOut) {
    constexpr std::size_t kNumbers = 1000;
    std::mt19937 random(16);
    for (const char *const order : {"ascending", "descending", "shuffled"}) {
        SCOPED_TRACE(order);
        std::vector<Number> numbers(kNumbers);
        std::vector<int> values(kNumbers);
        std::iota(values.begin(), values.end(), 0);
        if (order[0] == 'd') std::reverse(values.begin(), values.end());
        if (order[0] == 's') std::shuffle(values.begin(), values.end(), random);
        Tree tree;
        for (std::size_t i = 0; i < kNumbers; ++i) {
            numbers[i].value = values[i];
            tree.insert(&numbers[i]);
            ASSERT_TRUE(is_valid(tree)) << i;
        }
        std::vector<std::size_t> leaving(kNumbers);
        std::iota(leaving.begin(), leaving.end(), 0);
        std::shuffle(leaving.begin(), leaving.end(), random);
        for (const std::size_t i : leaving) {
            ASSERT_EQ(tree.find(values[i]), &numbers[i]);
            tree.remove(&numbers[i]);
            ASSERT_TRUE(is_valid(tree)) << i;
            ASSERT_EQ(tree.find(values[i]), nullptr);
        }
    }
}

TEST(RedBlackTreeTest, IsNotValidWithABlackNodeTooFewOrRedUnderRed) {
    Number numbers[4];
    Tree tree;
    for (int i = 0; i < 4; ++i) {
        numbers[i].value = 10 * i;
        tree.insert(&numbers[i]);
    }
    ASSERT_TRUE(is_valid(tree));
    for (Number &number : numbers) {
        number.is_red = !number.is_red;
        EXPECT_FALSE(is_valid(tree)) << number.value;
        number.is_red = !number.is_red;
        const int value = std::exchange(number.value, number.value < 20 ? 50 : -50);
        EXPECT_FALSE(is_valid(tree)) << value;
        number.value = value;
    }
    EXPECT_TRUE(is_valid(tree));
}

}  // namespace gr::lab::red_black_tree_test
