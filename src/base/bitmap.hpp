// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a row of bits over words that lie elsewhere; one bit per block.
// Invariant: bits at and beyond size() are never set.
// Must not know: what a bit means.
#pragma once

#include "base/bits.hpp"
#include "base/check.hpp"
#include "base/units.hpp"

namespace gr {

struct BitPosition {
    std::uint32_t word;
    Word mask;
    static constexpr BitPosition of(BlockIndex i) { return {i.value / kWordBits, Word{1} << (i.value % kWordBits)}; }
};

class Bitmap {
  public:
    constexpr Bitmap(Word *words, std::uint32_t size) : words_(words), size_(size) {}

    constexpr std::uint32_t size() const { return size_; }
    constexpr std::uint32_t word_count() const { return (size_ + kWordBits - 1) / kWordBits; }
    constexpr Word &word(std::uint32_t w) { return words_[w]; }

    constexpr void set_all() {
        for (std::uint32_t w = 0; w < word_count(); ++w) words_[w] = valid_bits(w);
    }
    constexpr bool test(BlockIndex i) const {
        const BitPosition at = BitPosition::of(i);
        return (words_[at.word] & at.mask) != 0;
    }
    constexpr std::uint32_t count() const {
        std::uint32_t total = 0;
        for (std::uint32_t w = 0; w < word_count(); ++w) total += static_cast<std::uint32_t>(std::popcount(words_[w]));
        return total;
    }
    constexpr bool is_valid() const {
        for (std::uint32_t w = 0; w < word_count(); ++w) {
            if ((words_[w] & ~valid_bits(w)) != 0) return false;
        }
        return true;
    }
    // The bits of word w that stand for a block.
    constexpr Word valid_bits(std::uint32_t w) const { return low_bits(size_ - w * kWordBits); }

  private:
    Word *words_;
    std::uint32_t size_;
};

}  // namespace gr
