// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a balanced tree through nodes that its elements inherit, ordered by a key of theirs: red-black, leaning to the
//    left (Sedgewick), which takes few lines.
// Invariant: no red node has a red child, none is a second child, and all ways down meet as many black ones. An element
//    is in one tree at most; no two there have the same key, and none changes. A tree is constant at its start, which
//    Boost.Intrusive's is not: a constructor links its head.
// Must not know: what the elements are, where they lie, and which thread may touch the tree.
#pragma once

#include <concepts>
#include <utility>

#include "base/check.hpp"

namespace gr::lab {

struct TreeNode {
    TreeNode *child[2] = {};  // before it, behind it
    bool is_red = false;
};

template <class O, class E>
concept TreeOrder = requires(const E &element) {
    { O::key(element) } -> std::totally_ordered;
};

template <std::derived_from<TreeNode> Element, TreeOrder<Element> Order>
class RedBlackTree {
    using Key = decltype(Order::key(std::declval<const Element &>()));

  public:
    // nullptr: there is none.
    Element *find(const Key &key) const {
        TreeNode *node = root_;
        while (node != nullptr && key_of(node) != key) node = node->child[key_of(node) < key];
        return static_cast<Element *>(node);
    }
    // The first whose key is not less; nullptr: there is none.
    Element *first_from(const Key &key) const {
        TreeNode *found = nullptr;
        for (TreeNode *node = root_; node != nullptr;) {
            const bool is_less = key_of(node) < key;
            if (!is_less) found = node;
            node = node->child[is_less];
        }
        return static_cast<Element *>(found);
    }
    void insert(Element *element) {
        TreeNode *const node = element;
        *node = {{}, true};
        root_ = with(root_, node);
        root_->is_red = false;
    }
    void remove(Element *element) {
        GR_CHECK(find(Order::key(*element)) == element);
        root_->is_red = !is_red(root_->child[0]);
        root_ = without(root_, element);
        if (root_ != nullptr) root_->is_red = false;
    }
    // In the order of the keys.
    void for_each(auto visit) const { for_each_below(root_, visit); }
    // For tests.
    const TreeNode *root() const { return root_; }

  private:
    static Key key_of(const TreeNode *node) { return Order::key(*static_cast<const Element *>(node)); }
    static void for_each_below(const TreeNode *top, auto &visit) {
        if (top == nullptr) return;
        for_each_below(top->child[0], visit);
        visit(*static_cast<const Element *>(top));
        for_each_below(top->child[1], visit);
    }
    static bool is_red(const TreeNode *node) { return node != nullptr && node->is_red; }

    // The child on that side takes its parent's place and colour, the parent becomes its other child and red.
    static TreeNode *rotated(TreeNode *parent, bool side) {
        TreeNode *const up = std::exchange(parent->child[side], parent->child[side]->child[!side]);
        up->child[!side] = parent;
        up->is_red = std::exchange(parent->is_red, true);
        return up;
    }
    static void recolour(TreeNode *top) {
        for (TreeNode *const node : {top, top->child[0], top->child[1]}) node->is_red = !node->is_red;
    }
    static TreeNode *balanced(TreeNode *top) {
        if (is_red(top->child[1]) && !is_red(top->child[0])) top = rotated(top, true);
        if (is_red(top->child[0]) && is_red(top->child[0]->child[0])) top = rotated(top, false);
        if (is_red(top->child[0]) && is_red(top->child[1])) recolour(top);
        return top;
    }
    // The top is red. So that a black node can leave on that side, the child there, or its first one, becomes red.
    static TreeNode *lent(TreeNode *top, bool side) {
        if (is_red(top->child[side]) || is_red(top->child[side]->child[0])) return top;
        recolour(top);
        if (!is_red(top->child[!side]->child[0])) return top;
        if (!side) top->child[1] = rotated(top->child[1], false);
        top = rotated(top, !side);
        recolour(top);
        return top;
    }

    static TreeNode *with(TreeNode *top, TreeNode *node) {
        if (top == nullptr) return node;
        TreeNode *&child = top->child[key_of(top) < key_of(node)];
        child = with(child, node);
        return balanced(top);
    }
    static TreeNode *without(TreeNode *top, const TreeNode *node) {
        if (key_of(node) < key_of(top)) {
            top = lent(top, false);
            top->child[0] = without(top->child[0], node);
            return balanced(top);
        }
        if (is_red(top->child[0])) top = rotated(top, false);
        if (top == node && top->child[1] == nullptr) return nullptr;
        top = lent(top, true);
        if (top != node) {
            top->child[1] = without(top->child[1], node);
            return balanced(top);
        }
        // The next one takes its place.
        TreeNode *next = top->child[1];
        while (next->child[0] != nullptr) next = next->child[0];
        TreeNode *const rest = without(top->child[1], next);
        *next = *top;
        next->child[1] = rest;
        return balanced(next);
    }

    TreeNode *root_ = nullptr;
};

}  // namespace gr::lab
