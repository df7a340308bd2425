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
    // Whether all of the blocks first .. last are set.
    constexpr bool all(BlockIndex first, BlockIndex last) const {
        bool set = true;
        for_each_word(first, last, [&](std::uint32_t w, Word mask) { set = set && (words_[w] & mask) == mask; });
        return set;
    }
    // Sets or clears the bits of the blocks first .. last. Returns how many bits changed.
    constexpr std::uint32_t change(BlockIndex first, BlockIndex last, bool set) {
        std::uint32_t changed = 0;
        for_each_word(first, last, [&](std::uint32_t w, Word mask) {
            const Word other = (set ? ~words_[w] : words_[w]) & mask;
            words_[w] ^= other;
            changed += static_cast<std::uint32_t>(std::popcount(other));
        });
        return changed;
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
    // Calls visit(word, its bits that belong to first .. last) for each word.
    template <class Visit>
    static constexpr void for_each_word(BlockIndex first, BlockIndex last, Visit visit) {
        for (std::uint32_t w = first.value / kWordBits; w <= last.value / kWordBits; ++w) {
            const std::uint32_t begin = w * kWordBits;
            const Word from = first.value <= begin ? ~Word{0} : ~low_bits(first.value - begin);
            visit(w, from & low_bits(last.value - begin + 1));
        }
    }

    Word *words_;
    std::uint32_t size_;
};

}  // namespace gr
