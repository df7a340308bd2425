// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: blocks of random sizes that carry a random stamp: drawn, allocated, shuffled, checked and freed.
// Invariant: the stamp is in a block's first and last whole word, so that a block that overlaps another, was given
//    out twice or was cleared shows when it is freed.
// Must not know: which malloc it runs on; who frees what.
#pragma once

#include <span>
#include <utility>

#include "workload.hpp"

namespace gr::bench {

// From `smallest` on, each of so many doublings is as likely as the next; uniform inside it.
inline std::size_t drawn_size(Random &random, std::size_t smallest, unsigned doublings) {
    const std::size_t from = smallest << random.below(doublings);
    return random.between(from, 2 * from - 1);
}

struct Block {
    std::uint64_t *words = nullptr;
    std::uint32_t size = 0;
    std::uint32_t stamp = 0;

    std::uint64_t &last() const { return words[size / sizeof *words - 1]; }
};

// What was allocated: of at least a word, below 4 GiB.
inline Block stamped(Random &random, void *bytes, std::size_t size) {
    const Block block{static_cast<std::uint64_t *>(bytes), static_cast<std::uint32_t>(size),
                      static_cast<std::uint32_t>(random.next() >> 32)};
    block.words[0] = block.last() = block.stamp;
    return block;
}

inline Block allocate_stamped(Random &random, std::size_t size) { return stamped(random, allocate(size), size); }

inline void free_stamped(const Block &block, const char *workload) {
    if (block.words[0] != block.stamp || block.last() != block.stamp)
        fail("%s: block %p of %u bytes changed while it was held", workload, static_cast<void *>(block.words),
             block.size);
    std::free(block.words);
}

// Every order is as likely as the next.
inline void shuffle(Random &random, std::span<Block> blocks) {
    for (std::size_t left = blocks.size(); left > 1; --left) std::swap(blocks[left - 1], blocks[random.below(left)]);
}

}  // namespace gr::bench
