// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a balanced tree through nodes that its elements inherit, ordered by a key of theirs.
// Invariant: no red node has a red child, and all ways down meet as many black nodes. An element is in one tree at most,
//            and its key stays as it is meanwhile. A tree is constant at its start, which Boost.Intrusive's is not: a
//            constructor links its head.
// Must not know: what the elements are, where they lie, and who may touch the tree.
#pragma once

#include <concepts>
#include <utility>

#include "base/check.hpp"

namespace gr::lab {

struct TreeNode {
    TreeNode *parent = nullptr;
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
    constexpr RedBlackTree() = default;

    // nullptr: there is none. Of equal ones any.
    Element *find(const Key &key) const {
        TreeNode *node = root_;
        while (node != nullptr && key_of(node) != key) node = node->child[key_of(node) < key];
        return static_cast<Element *>(node);
    }
    void insert(Element *added) {
        TreeNode *const node = added;
        TreeNode *parent = nullptr;
        TreeNode **link = &root_;
        while (*link != nullptr) {
            parent = *link;
            link = &parent->child[!(Order::key(*added) < key_of(parent))];
        }
        *node = {parent, {}, true};
        *link = node;
        mend_red(node);
    }
    void remove(Element *removed) {
        TreeNode *const node = removed;
        TreeNode *above = node->parent;  // of the place that loses a node
        bool side = is_second(node);
        bool lost_red = node->is_red;
        if (node->child[0] == nullptr || node->child[1] == nullptr) {
            replace(node, node->child[node->child[0] == nullptr]);
        } else {
            // The next one has no child before it; it leaves its place and takes the other's.
            TreeNode *const next = outermost(node->child[1], false);
            lost_red = next->is_red;
            side = next->parent == node;
            above = side ? next : next->parent;
            if (!side) {
                replace(next, next->child[1]);
                adopt(next, true, node->child[1]);
            }
            replace(node, next);
            adopt(next, false, node->child[0]);
            next->is_red = node->is_red;
        }
        if (!lost_red) mend_black(above, side);
    }

    bool is_valid() const {
        return !is_red(root_) && (root_ == nullptr || root_->parent == nullptr) && black_nodes(root_) >= 0;
    }

  private:
    static Key key_of(const TreeNode *node) { return Order::key(*static_cast<const Element *>(node)); }
    static bool is_red(const TreeNode *node) { return node != nullptr && node->is_red; }
    static bool is_second(const TreeNode *node) { return node->parent != nullptr && node->parent->child[1] == node; }
    static TreeNode *outermost(TreeNode *node, bool side) {
        while (node->child[side] != nullptr) node = node->child[side];
        return node;
    }

    static void adopt(TreeNode *parent, bool side, TreeNode *child) {
        parent->child[side] = child;
        if (child != nullptr) child->parent = parent;
    }
    // Puts another, or none, where node stands.
    void replace(TreeNode *node, TreeNode *by) {
        (node->parent == nullptr ? root_ : node->parent->child[is_second(node)]) = by;
        if (by != nullptr) by->parent = node->parent;
    }
    // The node goes down to that side; its other child takes its place.
    void rotate(TreeNode *node, bool side) {
        TreeNode *const up = node->child[!side];
        adopt(node, !side, up->child[side]);
        replace(node, up);
        adopt(up, side, node);
    }

    // The node is red, and its parent may be.
    void mend_red(TreeNode *node) {
        while (is_red(node->parent)) {
            TreeNode *parent = node->parent;
            TreeNode *const grandparent = parent->parent;
            const bool side = is_second(parent);
            TreeNode *const uncle = grandparent->child[!side];
            grandparent->is_red = true;
            if (is_red(uncle)) {
                parent->is_red = uncle->is_red = false;
                node = grandparent;
                continue;
            }
            if (is_second(node) != side) {
                rotate(parent, side);
                parent = node;
            }
            parent->is_red = false;
            rotate(grandparent, !side);
            break;
        }
        root_->is_red = false;
    }
    // On that side below `above` (nullptr: in the whole tree) the ways down meet a black node too few.
    void mend_black(TreeNode *above, bool side) {
        while (above != nullptr && !is_red(above->child[side])) {
            TreeNode *sibling = above->child[!side];
            if (sibling->is_red) {
                sibling->is_red = false;
                above->is_red = true;
                rotate(above, side);
                sibling = above->child[!side];
            }
            if (!is_red(sibling->child[0]) && !is_red(sibling->child[1])) {
                sibling->is_red = true;
                side = is_second(above);
                const TreeNode *const node = above;
                above = node->parent;
                continue;
            }
            if (!is_red(sibling->child[!side])) {
                sibling->child[side]->is_red = false;
                sibling->is_red = true;
                rotate(sibling, !side);
                sibling = above->child[!side];
            }
            sibling->is_red = above->is_red;
            above->is_red = false;
            sibling->child[!side]->is_red = false;
            rotate(above, side);
            return;
        }
        TreeNode *const lacking = above == nullptr ? root_ : above->child[side];
        if (lacking != nullptr) lacking->is_red = false;
    }

    // On each way down from there; -1: something is wrong.
    static int black_nodes(const TreeNode *node) {
        if (node == nullptr) return 0;
        for (const bool side : {false, true}) {
            const TreeNode *const child = node->child[side];
            if (child == nullptr) continue;
            if (child->parent != node || (node->is_red && child->is_red)) return -1;
            if (side ? key_of(child) < key_of(node) : key_of(node) < key_of(child)) return -1;
        }
        const int before = black_nodes(node->child[0]);
        if (before < 0 || before != black_nodes(node->child[1])) return -1;
        return before + (node->is_red ? 0 : 1);
    }

    TreeNode *root_ = nullptr;
};

}  // namespace gr::lab
