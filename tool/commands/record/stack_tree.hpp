// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the stacks of a process as one tree, a node for each call that they have in common.
// Invariant: a node comes after its caller's; it is told once, as new. Where there are too many, the tree is forgotten
//    and begins anew: later nodes may then mean what earlier ones did.
// Must not know: what functions the addresses are in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "reading/trace/contents.hpp"

namespace gr::tool {

class StackTree {
  public:
    StackTree() { empty_slots(kFirstSlots); }

    // The node of a call, by its caller's (none: it is outermost) and its address. The caller may be of a tree that is
    // forgotten.
    [[nodiscard]] trace::StackNumber child(trace::StackNumber caller, std::uint64_t address) {
        const Slot &slot = slot_of(trace::number_of(caller), address);
        return slot.number != 0 ? trace::StackNumber{slot.number} : add(caller, address);
    }
    // Those that came since the last clear_new().
    [[nodiscard]] const std::vector<trace::StackNode> &new_nodes() const { return new_; }
    void clear_new() { new_.clear(); }

  private:
    static constexpr std::size_t kFirstSlots = std::size_t{1} << 10;
    static constexpr std::size_t kMostNodes = std::size_t{1} << 20;

    struct Slot {
        std::uint64_t address = 0;
        std::uint32_t parent = 0;
        std::uint32_t number = 0;  // 0: an empty slot
    };
    // The node's, or the empty one in which it would be.
    [[nodiscard]] Slot &slot_of(std::uint32_t parent, std::uint64_t address) {
        constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio
        const std::uint64_t mixed = (address * kMix ^ parent) * kMix;
        for (std::size_t place = mixed >> 32;; ++place) {
            Slot &slot = slots_[place & mask_];
            if (slot.number == 0 || (slot.address == address && slot.parent == parent)) return slot;
        }
    }
    trace::StackNumber add(trace::StackNumber caller, std::uint64_t address);
    void empty_slots(std::size_t count);

    std::vector<Slot> slots_;  // a power of two; at most half of them are taken
    std::size_t mask_ = 0;
    std::size_t count_ = 0;
    std::uint32_t last_ = 0;
    std::vector<trace::StackNode> new_;
};

}  // namespace gr::tool
