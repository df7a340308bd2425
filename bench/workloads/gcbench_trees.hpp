// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: GCBench, which gcbench and mt-gcbench share: a large tree that is dropped at once; then, beside a tree and
//    an array that stay, trees of growing depth, for each depth about as many nodes, half of the trees built
//    from the root down and half from the leaves up.
//    Source: Boehm, "Fast multiprocessor memory allocation and garbage collection", the section on benchmarks:
//    complete binary trees of various heights, built and dropped in turn; for malloc, "recursive tree
//    traversals" that free them. Numbers are missing from the text we have; the parameters are those which
//    GCBench is known by: depths 4, 6, ... 16, the large tree 18 and the lasting one 16 deep, 500,000 doubles,
//    half of them written. A node has two pointers and two ints; there they are unused, here they say which
//    node it is.
//    Three forms. whole: each iteration has all of it. second, the paper's: no large tree. first, the older
//    one: the large tree, the lasting tree and the array once, by the first thread that comes; an iteration has
//    the other trees only.
// Invariant: verifies when a tree is freed that each node still says which node of which tree it is, and at the end
//    that the array still holds the reciprocals written to it. Under --keep the trees are not walked: what
//    lasts is verified, and of the others one in kUnverified.
// Must not know: which malloc it runs on; how many iterations or threads there are.
#pragma once

#include <algorithm>
#include <mutex>
#include <new>

#include "memory.hpp"

namespace gr::bench {

struct Node {
    Node *left;
    Node *right;
    unsigned height;  // 0: a leaf
    unsigned number;  // the root's is 1; the children's of n are 2n and 2n + 1
};

enum class Form : std::uint8_t { whole, first, second };

class GcBench {
  public:
    static constexpr unsigned kDepth = 16;

    GcBench(unsigned depth, const std::string &form, const Memory &memory)
        : depth_(depth),
          form_(form == "first"    ? Form::first
                : form == "second" ? Form::second
                                   : Form::whole),
          memory_(memory) {}

    void iterate() {
        if (form_ == Form::first) {
            std::call_once(begun_, [this] { shared_ = begin(); });
            return build_and_drop();
        }
        const Lasting lasting = begin();
        build_and_drop();
        end(lasting);
    }
    // After all iterations.
    void end() {
        if (form_ == Form::first) end(shared_);
    }

    // Of bytes requested and not yet freed, in one thread.
    std::size_t peak() const {
        const std::size_t beside = 2 * nodes(depth_) * sizeof(Node) + kDoubles * sizeof(double);
        return form_ == Form::second ? beside : std::max(nodes(depth_ + 2) * sizeof(Node), beside);
    }

  private:
    static constexpr unsigned kLeastDepth = 4;
    static constexpr std::size_t kDoubles = 500000;
    static constexpr std::size_t kUnverified = 64;

    struct Lasting {
        Node *tree;
        double *array;
    };

    Lasting begin() const {
        if (form_ != Form::second) drop(bottom_up(depth_ + 2), depth_ + 2, 0);
        Node *const tree = top_down(depth_);
        return {tree, reciprocals()};
    }

    void build_and_drop() const {
        for (unsigned depth = kLeastDepth; depth <= depth_; depth += 2) {
            const std::size_t trees = 2 * nodes(depth_ + 2) / nodes(depth);
            for (std::size_t tree = 0; tree < trees; ++tree) drop(top_down(depth), depth, tree);
            for (std::size_t tree = 0; tree < trees; ++tree) drop(bottom_up(depth), depth, tree);
        }
    }

    void end(const Lasting &lasting) const {
        release(lasting.tree, depth_);
        release(lasting.array);
    }

    static std::size_t nodes(unsigned depth) { return (std::size_t{2} << depth) - 1; }

    Node *leaf(unsigned number) const {
        return new (memory_.take(sizeof(Node))) Node{.left = nullptr, .right = nullptr, .height = 0, .number = number};
    }

    void grow(Node *node, unsigned height) const {
        node->height = height;
        if (height == 0) return;
        node->left = leaf(2 * node->number);
        node->right = leaf(2 * node->number + 1);
        grow(node->left, height - 1);
        grow(node->right, height - 1);
    }

    Node *top_down(unsigned depth) const {
        Node *const root = leaf(1);
        grow(root, depth);
        return root;
    }

    Node *bottom_up(unsigned height, unsigned number = 1) const {
        if (height == 0) return leaf(number);
        Node *const left = bottom_up(height - 1, 2 * number);
        Node *const right = bottom_up(height - 1, 2 * number + 1);
        return new (memory_.take(sizeof(Node))) Node{.left = left, .right = right, .height = height, .number = number};
    }

    void drop(Node *root, unsigned height, std::size_t tree) const {
        if (!memory_.keeps() || tree % kUnverified == 0) release(root, height);
    }

    void release(Node *node, unsigned height, unsigned number = 1) const {
        if (node->height != height || node->number != number)
            fail("gcbench: node %u of height %u changed at %p", number, height, static_cast<void *>(node));
        if (height > 0) {
            release(node->left, height - 1, 2 * number);
            release(node->right, height - 1, 2 * number + 1);
        }
        memory_.give(node);
    }

    static double reciprocal(std::size_t index) { return 1.0 / static_cast<double>(index + 1); }

    double *reciprocals() const {
        auto *const array = static_cast<double *>(memory_.take_pointer_free(kDoubles * sizeof(double)));
        for (std::size_t index = 0; index < kDoubles / 2; ++index) array[index] = reciprocal(index);
        return array;
    }

    void release(double *array) const {
        for (std::size_t index = 0; index < kDoubles / 2; ++index)
            if (array[index] != reciprocal(index))
                fail("gcbench: double %zu changed at %p", index, static_cast<void *>(array));
        memory_.give(array);
    }

    const unsigned depth_;
    const Form form_;
    const Memory &memory_;
    std::once_flag begun_;
    Lasting shared_{};
};

// All that the two programs differ in comes as arguments.
inline int run_gcbench(const char *name, const char *summary, const Settings &defaults, int argc, char **argv) {
    unsigned depth = GcBench::kDepth;
    std::string form = "whole";
    Memory memory;
    Workload workload(name, summary, defaults);
    workload.options().number("--depth", depth, "of the deepest short-lived trees and of the lasting one", {4, 24});
    workload.options().word("--form", form, "of the program: whole, first or second", {"whole", "first", "second"});
    memory.add_options(workload.options());
    if (!workload.parse(argc, argv)) return workload.exit_code();
    memory.start(workload.settings());
    GcBench gcbench(depth, form, memory);
    workload.run([&](Worker &worker) {
        const Memory::Member member(memory);
        for (; worker.more(); worker.did(1)) gcbench.iterate();
    });
    gcbench.end();
    workload.note("requested_peak_bytes", static_cast<double>(workload.settings().threads * gcbench.peak()));
    memory.note(workload);
    return workload.report();
}

}  // namespace gr::bench
