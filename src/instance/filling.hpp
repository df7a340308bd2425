// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what an instance fills blocks with, to find bugs: new ones (GRANARY_JUNK, GRANARY_ZERO) and freed ones
//    (GRANARY_JUNK).
// Invariant: set before the instance has a block, and never changed. If both are off, nothing is ever written.
// Must not know: where blocks lie, and how large they are.
#pragma once

#include <cstddef>
#include <cstring>

#include "base/config.hpp"
#include "instance/options.hpp"

namespace gr {

class Filling {
  public:
    constexpr Filling() = default;
    // GRANARY_ZERO takes precedence over GRANARY_JUNK.
    explicit Filling(const Options &options)
        : zeroes_new_(options.zero != 0),
          fills_new_(zeroes_new_ || is_either(options.junk, JunkMode::allocate)),
          fills_freed_(is_either(options.junk, JunkMode::free)) {}

    bool is_on() const { return fills_new_ || fills_freed_; }
    // Whether new blocks are filled, with a pattern or with zeros; and whether with zeros.
    bool fills_new() const { return fills_new_; }
    bool zeroes_new() const { return zeroes_new_; }
    // Whether freed blocks are filled.
    bool fills_freed() const { return fills_freed_; }

    // Fill the bytes of a block from `begin` to `end`, if the options say so. No other thread may have the block.
    void fill_new(void *block, std::size_t begin, std::size_t end) const {
        if (fills_new_) fill(block, begin, end, zeroes_new_ ? 0 : kJunkAllocated);
    }
    void fill_freed(void *block, std::size_t begin, std::size_t end) const {
        if (fills_freed_) fill(block, begin, end, kJunkFreed);
    }

  private:
    static bool is_either(std::size_t mode, JunkMode one) {
        return static_cast<JunkMode>(mode) == one || static_cast<JunkMode>(mode) == JunkMode::all;
    }
    static void fill(void *block, std::size_t begin, std::size_t end, unsigned char byte) {
        if (begin < end) std::memset(static_cast<char *>(block) + begin, byte, end - begin);
    }

    bool zeroes_new_ = false;
    bool fills_new_ = false;
    bool fills_freed_ = false;
};

}  // namespace gr
