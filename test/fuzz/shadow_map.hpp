// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the blocks a run holds, by slot and by address.
// Invariant: no two blocks share a byte; order_ lists the occupied slots by rising address.
// Must not know: the allocator, or what the blocks contain. It allocates nothing, so nothing can corrupt it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "operation.hpp"

namespace gr::fuzz {

struct Block {
    void *address = nullptr;  // null: the slot is empty
    std::size_t usable = 0;
    std::size_t requested = 0;
    std::size_t alignment = 0;
    std::uint64_t id = 0;
    Kind origin = Kind::kMalloc;  // decides which functions may free it

    std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(address); }
    // An empty block still needs an address of its own.
    std::uintptr_t end() const { return begin() + std::max(usable, std::size_t{1}); }
};

class ShadowMap {
  public:
    const Block *find(std::size_t slot) const { return blocks_[slot].address == nullptr ? nullptr : &blocks_[slot]; }

    // A block that shares a byte with the given one, or null.
    const Block *overlapping(const Block &block) const {
        const std::size_t next = position(block.begin());
        if (next < count_ && blocks_[order_[next]].begin() < block.end()) return &blocks_[order_[next]];
        if (next > 0 && blocks_[order_[next - 1]].end() > block.begin()) return &blocks_[order_[next - 1]];
        return nullptr;
    }

    // The slot is empty and nothing overlaps.
    void insert(std::size_t slot, const Block &block) {
        const std::size_t at = position(block.begin());
        std::copy_backward(order_.begin() + at, order_.begin() + count_, order_.begin() + count_ + 1);
        order_[at] = static_cast<std::uint16_t>(slot);
        ++count_;
        blocks_[slot] = block;
        live_bytes_ += block.usable;
    }

    void erase(std::size_t slot) {
        const std::size_t at = position(blocks_[slot].begin());
        std::copy(order_.begin() + at + 1, order_.begin() + count_, order_.begin() + at);
        --count_;
        live_bytes_ -= blocks_[slot].usable;
        blocks_[slot] = Block{};
    }

    std::size_t live_bytes() const { return live_bytes_; }
    std::size_t count() const { return count_; }

  private:
    // How many blocks begin below the address.
    std::size_t position(std::uintptr_t address) const {
        const auto below = [this](std::uint16_t slot, std::uintptr_t value) { return blocks_[slot].begin() < value; };
        const auto end = order_.begin() + count_;
        return static_cast<std::size_t>(std::lower_bound(order_.begin(), end, address, below) - order_.begin());
    }

    std::array<Block, kSlots> blocks_{};
    std::array<std::uint16_t, kSlots> order_{};
    std::size_t count_ = 0;
    std::size_t live_bytes_ = 0;
};

}  // namespace gr::fuzz
