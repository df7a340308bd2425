// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: finds the lowest chunk with a run of free units of some length: a tree of minima, 64 children to a node.
// Invariant: node = min over its children of (kUnitsPerChunk - longest free run), so zeroed memory means all free. No
//    leaf of a chunk that was never set is read, nor of a chunk behind the last such chunk's parent.
// Must not know: where in a chunk the run lies.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bits.hpp"
#include "base/config.hpp"
#include "base/units.hpp"

namespace gr {

class FirstFitIndex {
  public:
    static constexpr std::uint32_t kFanOut = 64;
    static constexpr std::uint32_t kLevels = 4;       // the nodes of the top level are searched one by one
    static constexpr std::size_t kBytesPerChunk = 1;  // of the leaves
    static constexpr std::size_t kFixedBytes = [] {   // of all levels above, for the largest region
        std::size_t bytes = 0;
        std::size_t nodes = kRegionMaxBytes >> kChunkShift;
        for (std::uint32_t l = 1; l < kLevels; ++l) {
            nodes = divide_up(nodes, kFanOut);
            bytes += align_up(nodes, kFanOut);
        }
        return bytes;
    }();

    // Both are zero. `leaves`: the leaf of a chunk need not have memory before the chunk is set. A whole node of leaves
    // has memory then. `memory`: kFixedBytes.
    void initialise(char *leaves, char *memory, std::uint32_t chunks) {
        levels_[0] = Level{reinterpret_cast<std::uint8_t *>(leaves), chunks};
        std::uint32_t nodes = chunks;
        for (std::uint32_t l = 1; l < kLevels; ++l) {
            nodes = static_cast<std::uint32_t>(divide_up(nodes, kFanOut));
            levels_[l] = Level{reinterpret_cast<std::uint8_t *>(memory), nodes};
            memory += align_up(nodes, kFanOut);
        }
    }

    void set_longest_run(ChunkIndex c, unsigned longest) {
        if (c.value >= set_end_) set_end_ = static_cast<std::uint32_t>(align_up(c.value + 1, kFanOut));
        std::uint32_t node = c.value;
        auto value = static_cast<std::uint8_t>(kUnitsPerChunk - longest);
        for (std::uint32_t l = 0; l < kLevels; ++l) {
            const std::uint8_t before = levels_[l].nodes[node];
            if (before == value) return;
            levels_[l].nodes[node] = value;
            if (l + 1 == kLevels) return;
            node /= kFanOut;
            const std::uint8_t least = levels_[l + 1].nodes[node];
            if (value >= least && before != least) return;  // the minimum is another child's
            if (value > least) value = levels_[l].minimum_of_children(node);
        }
    }
    unsigned longest_run(ChunkIndex c) const {
        return kUnitsPerChunk - (c.value < set_end_ ? levels_[0].nodes[c.value] : 0);
    }

    // The lowest chunk whose longest run is at least `length`, or -1.
    std::int64_t find(unsigned length) const {
        const auto at_most = static_cast<std::uint8_t>(kUnitsPerChunk - length);
        std::int64_t node = levels_[kLevels - 1].find(0, levels_[kLevels - 1].count, at_most);
        for (std::uint32_t l = kLevels - 1; l != 0 && node >= 0; --l) {
            const auto first = static_cast<std::uint32_t>(node) * kFanOut;
            if (l == 1 && first >= set_end_) return first;
            node = levels_[l - 1].find(first, first + kFanOut, at_most);
        }
        return node;
    }

    // The lowest `count` neighbouring chunks that are wholly free, or -1.
    std::int64_t find_free_chunks(std::uint32_t count) const {
        const Level &leaves = levels_[0];
        const std::int64_t first = find(kUnitsPerChunk);
        std::uint32_t row = 0;
        for (std::int64_t c = first; c >= 0 && c < leaves.count; ++c) {
            row = longest_run(ChunkIndex(static_cast<std::uint32_t>(c))) == kUnitsPerChunk ? row + 1 : 0;
            if (row == count) return c - count + 1;
        }
        return -1;
    }

  private:
    struct Level {
        std::uint8_t *nodes = nullptr;
        std::uint32_t count = 0;

        std::int64_t find(std::uint32_t first, std::uint32_t end, std::uint8_t at_most) const {
            for (std::uint32_t i = first; i < end && i < count; ++i) {
                if (nodes[i] <= at_most) return i;
            }
            return -1;
        }
        std::uint8_t minimum_of_children(std::uint32_t parent) const {
            std::uint8_t least = kUnitsPerChunk;
            for (std::uint32_t i = parent * kFanOut; i < (parent + 1) * kFanOut && i < count; ++i) {
                if (nodes[i] < least) least = nodes[i];
            }
            return least;
        }
    };

    Level levels_[kLevels];
    std::uint32_t set_end_ = 0;  // no leaf from here on was set; all are free
};

}  // namespace gr
