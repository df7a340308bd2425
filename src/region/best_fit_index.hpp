// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: finds a chunk whose longest run of some units is the shortest that suffices. Chunks belong to groups of CPUs; a
//    group's own chunks come first. A group has a list of chunks for each length; the chunk that changed last is its
//    first.
// Invariant: a chunk is in its group's list of its longest run, and in no list if that length is 0. So zeroed memory
//    means that no chunk has a run. `lengths` has a bit for each list that is not empty.
// Must not know: which units; where in a chunk the run lies; why a chunk belongs to a group.
#pragma once

#include <bit>
#include <cstdint>

#include "base/config.hpp"
#include "base/units.hpp"

namespace gr {

// What the index keeps for each chunk; zero at first.
struct BestFitNode {
    std::uint32_t next;      // chunk in the same list, plus one; 0: none
    std::uint32_t previous;  // likewise
    std::uint32_t longest;
    CpuGroup group;
};

// Node: a type derived from BestFitNode that may hold more about a chunk.
template <class Node>
class BestFitIndex {
  public:
    void initialise(Node *nodes) { nodes_ = nodes; }

    void set_longest_run(ChunkIndex c, unsigned longest) {
        Node &node = nodes_[c.value];
        if (node.longest == longest) return;
        change(node, c, longest, node.group);
    }
    unsigned longest_run(ChunkIndex c) const { return nodes_[c.value].longest; }

    void set_group(ChunkIndex c, CpuGroup group) {
        Node &node = nodes_[c.value];
        if (node.group == group) return;
        change(node, c, node.longest, group);
    }
    CpuGroup group(ChunkIndex c) const { return nodes_[c.value].group; }

    // Of the group's chunks whose longest run has at least `length` units, one with the shortest longest run. If the
    // group has none, such a chunk of the next group that has one. -1: no group has one.
    std::int64_t find(unsigned length, CpuGroup group) const {
        for (std::uint32_t i = 0; i < kCpuGroups; ++i) {
            const Lists &lists = lists_[(group.value + i) % kCpuGroups];
            const std::uint32_t lengths = lists.lengths >> (length - 1);
            if (lengths == 0) continue;
            return std::int64_t{lists.heads[length - 1 + static_cast<unsigned>(std::countr_zero(lengths))]} - 1;
        }
        return -1;
    }

  private:
    struct Lists {
        std::uint32_t lengths;
        std::uint32_t heads[kUnitsPerChunk];  // first chunk of each list, plus one; 0: empty
    };

    void change(Node &node, ChunkIndex c, unsigned longest, CpuGroup group) {
        if (node.longest != 0) remove(node);
        node.longest = longest;
        node.group = group;
        if (longest != 0) insert(node, c);
    }
    void insert(Node &node, ChunkIndex c) {
        Lists &lists = lists_[node.group.value];
        std::uint32_t &head = lists.heads[node.longest - 1];
        node.next = head;
        node.previous = 0;
        if (head != 0) nodes_[head - 1].previous = c.value + 1;
        head = c.value + 1;
        lists.lengths |= 1U << (node.longest - 1);
    }
    void remove(const Node &node) {
        Lists &lists = lists_[node.group.value];
        std::uint32_t &head = lists.heads[node.longest - 1];
        if (node.next != 0) nodes_[node.next - 1].previous = node.previous;
        (node.previous != 0 ? nodes_[node.previous - 1].next : head) = node.next;
        if (head == 0) lists.lengths &= ~(1U << (node.longest - 1));
    }

    Node *nodes_ = nullptr;
    Lists lists_[kCpuGroups]{};
};

}  // namespace gr
