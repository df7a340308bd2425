// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a set of pages of one superblock.
// Invariant: page i lies i pages behind the superblock's first byte; no set holds a page at or beyond kMaxPages.
// Must not know: what the pages in the set have in common.
#pragma once

#include "base/bits.hpp"
#include "base/config.hpp"

namespace gr {

inline constexpr std::size_t kLeastPageBytes = 4 * kKiB;
inline constexpr unsigned kMaxPages = kMaxSuperblockUnits * kUnitBytes / kLeastPageBytes;

class PageSet {
  public:
    constexpr bool any() const {
        for (const Word word : words_) {
            if (word != 0) return true;
        }
        return false;
    }
    constexpr unsigned count() const {
        unsigned total = 0;
        for (const Word word : words_) total += static_cast<unsigned>(std::popcount(word));
        return total;
    }
    constexpr bool has(unsigned page) const { return (words_[page / kWordBits] >> page % kWordBits & 1) != 0; }
    constexpr void add(unsigned page) { words_[page / kWordBits] |= Word{1} << page % kWordBits; }
    constexpr void add(const PageSet &other) {
        for (unsigned i = 0; i < kWords; ++i) words_[i] |= other.words_[i];
    }
    // Removes pages first to last, both included.
    constexpr void remove(unsigned first, unsigned last) {
        for (unsigned w = first / kWordBits; w <= last / kWordBits; ++w) {
            const unsigned begin = w * kWordBits;
            const Word from = first <= begin ? ~Word{0} : ~low_bits(first - begin);
            words_[w] &= ~(from & low_bits(last - begin + 1));
        }
    }
    // Calls visit(first, count) for each run of neighbouring pages, in ascending order.
    template <class Visit>
    constexpr void for_each_run(Visit visit) const {
        for (unsigned page = 0; page < kMaxPages;) {
            if (!has(page)) {
                ++page;
                continue;
            }
            const unsigned first = page;
            while (page < kMaxPages && has(page)) ++page;
            visit(first, page - first);
        }
    }

  private:
    static constexpr unsigned kWords = divide_up(kMaxPages, kWordBits);
    Word words_[kWords] = {};
};
static_assert(kMaxPages % kWordBits == 0, "a set is whole words");

}  // namespace gr
