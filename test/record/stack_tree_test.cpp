// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the nodes of a process's stacks, and that there may be more of them than the tree remembers.
// Invariant: nodes are looked up by their numbers in all that were told.
// Must not know: how many a tree remembers.
#include "commands/record/stack_tree.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace gr::tool::stack_tree_test {

using trace::StackNumber;

TEST(StackTree, ACallHasOneNodeBelowEachOfItsCallers) {
    StackTree tree;
    const StackNumber outer = tree.child(StackNumber::none, 1);
    const StackNumber inner = tree.child(outer, 1);
    EXPECT_NE(outer, StackNumber::none);
    EXPECT_NE(inner, outer);
    EXPECT_EQ(tree.child(StackNumber::none, 1), outer);
    EXPECT_EQ(tree.child(outer, 1), inner);
    EXPECT_EQ(tree.new_nodes().size(), 2U);
    tree.clear_new();
    EXPECT_EQ(tree.child(outer, 1), inner);
    EXPECT_TRUE(tree.new_nodes().empty());
}

TEST(StackTree, ACallerOfAForgottenTreeIsACaller) {
    constexpr std::uint64_t kNodes = 1200000;
    StackTree tree;
    const StackNumber first = tree.child(StackNumber::none, 7);
    StackNumber caller = first;
    for (std::uint64_t address = 1; address < kNodes; ++address) {
        const StackNumber node = tree.child(caller, address);
        ASSERT_EQ(trace::number_of(node), tree.new_nodes().size());
        ASSERT_EQ(tree.new_nodes().back().parent, caller);
        ASSERT_EQ(tree.new_nodes().back().address, address);
        caller = node;
    }
    EXPECT_NE(tree.child(StackNumber::none, 7), first) << "nothing was forgotten";
    EXPECT_EQ(tree.child(first, 1), tree.child(first, 1));
}

}  // namespace gr::tool::stack_tree_test
