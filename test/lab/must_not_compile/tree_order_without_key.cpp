// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a red-black tree is ordered by is a key that can be compared (parts/lists/red_black_tree.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: constraints not satisfied|does not satisfy|constraint failure
#include "parts/lists/red_black_tree.hpp"

using namespace gr::lab;

#ifdef CONTROL
struct Number : TreeNode {};
struct ByPlace {
    static const void *key(const Number &number) { return &number; }
};
RedBlackTree<Number, ByPlace> tree;
#else
struct Number : TreeNode {};
struct ByNothing {
    static void key(const Number &) {}
};
RedBlackTree<Number, ByNothing> tree;
#endif
