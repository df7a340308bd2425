// SPDX-License-Identifier: Apache-2.0 OR MIT
// What:      one iteration of GCBench with explicit free, which gcbench and mt-gcbench share: a large tree that is
//            dropped at once; then, beside a tree and an array that stay, trees of growing depth, for each depth about
//            as many nodes, half of the trees built from the root down and half from the leaves up.
//            Source: Boehm, "Fast multiprocessor memory allocation and garbage collection", the section on benchmarks:
//            complete binary trees of various heights, built and dropped in turn; for malloc, "recursive tree
//            traversals" that free them. Numbers are missing from the text we have; the parameters are those which
//            GCBench is known by: depths 4, 6, ... 16, the large tree 18 and the lasting one 16 deep, 500,000 doubles,
//            half of them written. A node has two pointers and two ints; there they are unused, here they say which
//            node it is.
// Invariant: verifies when a tree is freed that each node still says which node of which tree it is, and at the end
//            that the array still holds the reciprocals written to it.
// Must not know: which malloc it runs on; how many iterations or threads there are.
#pragma once

#include <algorithm>
#include <new>

#include "workload.hpp"

namespace gr::bench {

struct Node {
    Node *left;
    Node *right;
    unsigned height;  // 0: a leaf
    unsigned number;  // the root's is 1; the children's of n are 2n and 2n + 1
};

class GcBench {
  public:
    static constexpr unsigned kDepth = 16;

    explicit GcBench(unsigned depth) : depth_(depth) {}

    void iterate() const {
        release(bottom_up(depth_ + 2), depth_ + 2);
        Node *const lasting = top_down(depth_);
        double *const array = reciprocals();
        for (unsigned depth = kLeastDepth; depth <= depth_; depth += 2) {
            const std::size_t trees = 2 * nodes(depth_ + 2) / nodes(depth);
            for (std::size_t tree = 0; tree < trees; ++tree) release(top_down(depth), depth);
            for (std::size_t tree = 0; tree < trees; ++tree) release(bottom_up(depth), depth);
        }
        release(lasting, depth_);
        release(array);
    }

    // Of bytes requested and not yet freed, in one thread.
    std::size_t peak() const {
        return std::max(nodes(depth_ + 2) * sizeof(Node), 2 * nodes(depth_) * sizeof(Node) + kDoubles * sizeof(double));
    }

  private:
    static constexpr unsigned kLeastDepth = 4;
    static constexpr std::size_t kDoubles = 500000;

    static std::size_t nodes(unsigned depth) { return (std::size_t{2} << depth) - 1; }

    static Node *leaf(unsigned number) {
        return new (allocate(sizeof(Node))) Node{.left = nullptr, .right = nullptr, .height = 0, .number = number};
    }

    static void grow(Node *node, unsigned height) {
        node->height = height;
        if (height == 0) return;
        node->left = leaf(2 * node->number);
        node->right = leaf(2 * node->number + 1);
        grow(node->left, height - 1);
        grow(node->right, height - 1);
    }

    static Node *top_down(unsigned depth) {
        Node *const root = leaf(1);
        grow(root, depth);
        return root;
    }

    static Node *bottom_up(unsigned height, unsigned number = 1) {
        if (height == 0) return leaf(number);
        Node *const left = bottom_up(height - 1, 2 * number);
        Node *const right = bottom_up(height - 1, 2 * number + 1);
        return new (allocate(sizeof(Node))) Node{.left = left, .right = right, .height = height, .number = number};
    }

    static void release(Node *node, unsigned height, unsigned number = 1) {
        if (node->height != height || node->number != number)
            fail("gcbench: node %u of height %u changed at %p", number, height, static_cast<void *>(node));
        if (height > 0) {
            release(node->left, height - 1, 2 * number);
            release(node->right, height - 1, 2 * number + 1);
        }
        std::free(node);
    }

    static double reciprocal(std::size_t index) { return 1.0 / static_cast<double>(index + 1); }

    static double *reciprocals() {
        auto *const array = static_cast<double *>(allocate(kDoubles * sizeof(double)));
        for (std::size_t index = 0; index < kDoubles / 2; ++index) array[index] = reciprocal(index);
        return array;
    }

    static void release(double *array) {
        for (std::size_t index = 0; index < kDoubles / 2; ++index)
            if (array[index] != reciprocal(index))
                fail("gcbench: double %zu changed at %p", index, static_cast<void *>(array));
        std::free(array);
    }

    unsigned depth_;
};

// All that the two programs differ in comes as arguments.
inline int run_gcbench(const char *name, const char *summary, const Settings &defaults, int argc, char **argv) {
    unsigned depth = GcBench::kDepth;
    Workload workload(name, summary, defaults);
    workload.options()
        .add_option("--depth", depth, "of the deepest short-lived trees and of the lasting one")
        ->check(CLI::Range(4, 24))
        ->capture_default_str();
    if (!workload.parse(argc, argv)) return workload.exit_code();
    const GcBench gcbench(depth);
    workload.run([&](Worker &worker) {
        for (; worker.more(); worker.did(1)) gcbench.iterate();
    });
    workload.note("requested_peak_bytes", static_cast<double>(workload.settings().threads * gcbench.peak()));
    return workload.report();
}

}  // namespace gr::bench
