// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: addresses that a process with a limit on them keeps for a collection: at the limit, what marks needs memory, too.
// Invariant: nothing is mapped there that can be read.
// Must not know: what a collection maps.
#pragma once

#include <cstddef>
#include <utility>

#include "base/config.hpp"
#include "platform/memory.hpp"

namespace gr {

class AddressRoom {
  public:
    constexpr AddressRoom() = default;
    AddressRoom(const AddressRoom &) = delete;
    AddressRoom &operator=(const AddressRoom &) = delete;

    // address_limit: SIZE_MAX: there is none, and nothing is kept.
    void begin(std::size_t address_limit) {
        most_ = address_limit == SIZE_MAX ? 0 : address_limit / kParts;
        keep();
    }
    // As much as the kernel grants, if nothing is kept.
    void keep() {
        if (begin_ != nullptr) return;
        for (bytes_ = most_; begin_ == nullptr && bytes_ >= kUnitBytes;
             bytes_ = begin_ == nullptr ? bytes_ / 2 : bytes_)
            begin_ = platform::reserve(bytes_);
    }
    void let_go() {
        if (begin_ != nullptr) platform::unmap(std::exchange(begin_, nullptr), bytes_);
    }

  private:
    static constexpr std::size_t kParts = 16;  // of the limit

    void *begin_ = nullptr;
    std::size_t bytes_ = 0;
    std::size_t most_ = 0;
};

}  // namespace gr
