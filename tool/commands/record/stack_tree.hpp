// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the stacks of a process as one tree, a node for each call that they have in common.
// Invariant: a node comes after its caller's; it is told once, as new. Where there are too many, the tree is forgotten
//    and begins anew: later nodes may then mean what earlier ones did.
// Must not know: what functions the addresses are in.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "commands/record/place_table.hpp"
#include "reading/trace/contents.hpp"

namespace gr::tool {

class StackTree {
  public:
    StackTree() : slots_(std::size_t{1} << kFirstBits) {}

    // Of a stack's words, as granary/wire/recording.h has them.
    [[nodiscard]] trace::StackNumber number(std::span<const std::uint64_t> words, PlaceTable &places);
    // Those that came since the last clear_new().
    [[nodiscard]] const std::vector<trace::StackNode> &new_nodes() const { return new_; }
    void clear_new() { new_.clear(); }

  private:
    static constexpr unsigned kFirstBits = 10;
    static constexpr std::size_t kMostNodes = std::size_t{1} << 20;

    struct Slot {
        std::uint64_t address = 0;
        std::uint32_t parent = 0;
        std::uint32_t number = 0;  // 0: an empty slot
    };
    [[nodiscard]] static std::uint64_t address_of(std::uint64_t word, std::uint32_t caller, PlaceTable &places);
    std::uint32_t child(std::uint32_t parent, std::uint64_t address);
    [[nodiscard]] Slot &slot_of(std::uint32_t parent, std::uint64_t address);
    void grow();

    // The words of the stack before, the outermost first, and the node of each: stacks that follow each other have their
    // outer calls in common.
    std::vector<std::pair<std::uint64_t, std::uint32_t>> before_;
    std::vector<Slot> slots_;
    std::size_t count_ = 0;
    std::uint32_t last_ = 0;
    std::vector<trace::StackNode> new_;
};

}  // namespace gr::tool
