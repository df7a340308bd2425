// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the blocks that are in use at a moment of a trace, by address.
// Invariant: count() blocks, no two at the same address. At most kFullness of the slots are taken, so that a search
//    ends.
// Must not know: the order of events.
#pragma once

#include <cstdint>
#include <vector>

#include "reading/trace/event.hpp"

namespace gr::trace {

struct Block {
    std::uint64_t address = 0;  // 0: an empty slot
    std::uint64_t size = 0;
    Time born;
    std::uint64_t number = 0;        // how many blocks were born before
    std::uint64_t bytes_before = 0;  // that they were asked for with
    ThreadNumber thread{};
    StackNumber stack = StackNumber::none;
    Op op{};
    std::uint8_t log2_alignment = 0;
};

class LiveSet {
  public:
    LiveSet() : slots_(std::size_t{1} << kFirstBits) {}

    [[nodiscard]] const Block *find(std::uint64_t address) const {
        const Block &slot = slots_[place_of(address)];
        return slot.address == address ? &slot : nullptr;
    }
    // Of an address that is in use by none.
    void add(const Block &block) {
        slots_[place_of(block.address)] = block;
        if (++count_ > slots_.size() / kFullness.of * kFullness.parts) grow();
    }
    // false: there is none.
    bool take(std::uint64_t address, Block *block) {
        const std::size_t place = place_of(address);
        if (slots_[place].address != address) return false;
        *block = slots_[place];
        remove(place);
        return true;
    }
    [[nodiscard]] std::size_t count() const { return count_; }

    // In no order.
    template <class Use>
    void for_each(Use use) const {
        for (const Block &slot : slots_) {
            if (slot.address != 0) use(slot);
        }
    }

  private:
    static constexpr unsigned kFirstBits = 12;
    static constexpr struct { std::size_t parts, of; } kFullness{2, 3};

    [[nodiscard]] std::size_t home_of(std::uint64_t address) const {
        constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio
        return (address * kMix >> 20) & (slots_.size() - 1);
    }
    [[nodiscard]] std::size_t place_of(std::uint64_t address) const {
        std::size_t place = home_of(address);
        while (slots_[place].address != 0 && slots_[place].address != address)
            place = (place + 1) & (slots_.size() - 1);
        return place;
    }
    void remove(std::size_t place);
    void grow();

    std::vector<Block> slots_;
    std::size_t count_ = 0;
};

}  // namespace gr::trace
