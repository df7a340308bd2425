// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: an element of a red-black tree is a node of it (parts/lists/red_black_tree.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: constraints not satisfied|does not satisfy|constraint failure
#include "parts/lists/red_black_tree.hpp"

using namespace gr::lab;

#ifdef CONTROL
struct Number : TreeNode {
    int value = 0;
};
struct ByValue {
    static int key(const Number &number) { return number.value; }
};
RedBlackTree<Number, ByValue> tree;
#else
struct Number {
    int value = 0;
};
struct ByValue {
    static int key(const Number &number) { return number.value; }
};
RedBlackTree<Number, ByValue> tree;
#endif
