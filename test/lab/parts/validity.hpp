// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: whether parts of the lab hold what they promise, by a walk through all that is in them.
// Invariant: changes nothing, and believes no sum.
// Must not know: how it came to be.
#pragma once

#include "parts/hoard/fullness_groups.hpp"
#include "parts/layout/size_tree.hpp"
#include "parts/lists/red_black_tree.hpp"

namespace gr::lab {

inline bool is_valid(const Container &c) {
    return c.mark == Container::kMark && c.used <= c.blocks && c.used + c.free.count() <= c.fresh &&
           c.fresh <= c.blocks;
}

// Sums and groups.
inline bool is_valid(const FullnessGroups &groups) {
    constexpr unsigned kFull = EmptinessThreshold::kGroups;
    std::size_t used = 0;
    std::size_t blocks = 0;
    for (unsigned group = 0; group <= kFull; ++group)
        for (const Container *s = groups.group(group).first(); s != nullptr; s = LinkedList<Container>::after(s)) {
            if (!is_valid(*s) || s->used * kFull / s->blocks != group) return false;
            used += s->used;
            blocks += s->blocks;
        }
    return used == groups.used() && blocks == groups.blocks();
}

template <class Element, class Order>
struct TreeWalk {
    static bool is_red(const TreeNode *node) { return node != nullptr && node->is_red; }
    static bool are_in_order(const TreeNode *one, const TreeNode *other) {
        return Order::key(*static_cast<const Element *>(one)) < Order::key(*static_cast<const Element *>(other));
    }
    // On each way down from there, where all lie between two others; -1: something is wrong.
    static int black_nodes(const TreeNode *top, const TreeNode *low, const TreeNode *high) {
        if (top == nullptr) return 0;
        if (is_red(top->child[1]) || (top->is_red && is_red(top->child[0]))) return -1;
        if (low != nullptr && !are_in_order(low, top)) return -1;
        if (high != nullptr && !are_in_order(top, high)) return -1;
        const int before = black_nodes(top->child[0], low, top);
        if (before < 0 || before != black_nodes(top->child[1], top, high)) return -1;
        return before + (top->is_red ? 0 : 1);
    }
};

// Order, colours, and the lengths of all ways down.
template <class Element, class Order>
bool is_valid(const RedBlackTree<Element, Order> &tree) {
    using Walk = TreeWalk<Element, Order>;
    return !Walk::is_red(tree.root()) && Walk::black_nodes(tree.root(), nullptr, nullptr) >= 0;
}

inline std::size_t bytes_below(const TreeNode *top) {
    if (top == nullptr) return 0;
    return tag_of(static_cast<const SizeTree::Node *>(top)).bytes + bytes_below(top->child[0]) +
           bytes_below(top->child[1]);
}
// The tree, and its sum.
inline bool is_valid(const SizeTree &sizes) {
    return is_valid(sizes.tree()) && bytes_below(sizes.tree().root()) == sizes.bytes();
}

}  // namespace gr::lab
