// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: finds a chunk whose longest run of some units is the shortest that suffices. Each length has a list of chunks;
//    the chunk that changed last is its first.
// Invariant: a chunk is in the list of its longest run, and in no list if that length is 0. So zeroed memory means that
//    no chunk has a run. lengths_ has a bit for each list that is not empty.
// Must not know: which units; where in a chunk the run lies.
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
};

// Node: a type derived from BestFitNode that may hold more about a chunk.
template <class Node>
class BestFitIndex {
  public:
    void initialise(Node *nodes) { nodes_ = nodes; }

    void set_longest_run(ChunkIndex c, unsigned longest) {
        Node &node = nodes_[c.value];
        if (node.longest == longest) return;
        if (node.longest != 0) remove(node);
        node.longest = longest;
        if (longest != 0) insert(node, c);
    }
    unsigned longest_run(ChunkIndex c) const { return nodes_[c.value].longest; }

    // Of the chunks whose longest run has at least `length` units, one with the shortest longest run; or -1.
    std::int64_t find(unsigned length) const {
        const std::uint32_t lengths = lengths_ >> (length - 1);
        if (lengths == 0) return -1;
        return std::int64_t{heads_[length - 1 + static_cast<unsigned>(std::countr_zero(lengths))]} - 1;
    }

  private:
    void insert(Node &node, ChunkIndex c) {
        std::uint32_t &head = heads_[node.longest - 1];
        node.next = head;
        node.previous = 0;
        if (head != 0) nodes_[head - 1].previous = c.value + 1;
        head = c.value + 1;
        lengths_ |= 1U << (node.longest - 1);
    }
    void remove(const Node &node) {
        std::uint32_t &head = heads_[node.longest - 1];
        if (node.next != 0) nodes_[node.next - 1].previous = node.previous;
        (node.previous != 0 ? nodes_[node.previous - 1].next : head) = node.next;
        if (head == 0) lengths_ &= ~(1U << (node.longest - 1));
    }

    Node *nodes_ = nullptr;
    std::uint32_t lengths_ = 0;
    std::uint32_t heads_[kUnitsPerChunk]{};  // first chunk of each list, plus one; 0: empty
};

}  // namespace gr
