// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: free blocks of any size in a search tree by size (Wasik 4.1, Solaris' malloc), which finds the best fit.
// Invariant: a block that is in the tree keeps its bytes. Blocks of the same size are ordered by their addresses.
//    bytes() is the sum of all.
// Must not know: what lies beside a block, and whose it is.
#pragma once

#include <utility>

#include "parts/layout/block_tag.hpp"
#include "parts/lists/red_black_tree.hpp"

namespace gr::lab {

class SizeTree {
  public:
    // What lies in a block while it is in the tree.
    struct Node : TreeNode {};

    // A tree has room for any size.
    static constexpr bool is_for(std::size_t) { return true; }

    std::size_t bytes() const { return bytes_; }
    void insert(void *block) {
        tree_.insert(static_cast<Node *>(block));
        bytes_ += tag_of(block).bytes;
    }
    void remove(void *block) {
        tree_.remove(static_cast<Node *>(block));
        bytes_ -= tag_of(block).bytes;
    }
    // The smallest of so many bytes at least, of several that with the lowest address; it stays. nullptr: there is
    // none.
    void *find(std::size_t bytes) const { return tree_.first_from({bytes, 0}); }

    void draw(auto &picture, auto place, show::Shown state) const {
        const auto own = picture.place(place, show::PlaceKind::bin, picture.words("tree"), picture.words("by size"));
        tree_.for_each([&](const Node &node) { picture.listed(&node, own, state); });
    }

    struct BySize {
        static std::pair<std::size_t, std::uintptr_t> key(const Node &node) {
            return {tag_of(&node).bytes, reinterpret_cast<std::uintptr_t>(&node)};
        }
    };
    using Tree = RedBlackTree<Node, BySize>;
    // For tests.
    const Tree &tree() const { return tree_; }

  private:
    Tree tree_;
    std::size_t bytes_ = 0;
};

}  // namespace gr::lab
