// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the pages of a chunk as runs of powers of two, which are split in halves and joined with the other half only
//    (the binary buddy algorithm).
// Invariant: a run of 2^k pages begins at a multiple of that. For each k a row of bits, in words that lie elsewhere,
//    tells which runs are free; no page is in two, and never are both halves of a run free beside each other.
// Must not know: what a page is, where it lies and what is in it.
#pragma once

#include "base/bits.hpp"
#include "base/check.hpp"

namespace gr::lab {

template <unsigned kMostOrder>
class BuddyRuns {
    static_assert(kMostOrder < 31, "a page's number has 31 bits");

  public:
    static constexpr std::uint32_t kNone = UINT32_MAX;

    static constexpr std::size_t words_for(unsigned order) {
        std::size_t words = 0;
        for (unsigned k = 0; k <= order; ++k) words += divide_up(std::size_t{1} << (order - k), kWordBits);
        return words;
    }

    // 2^order pages; all behind the first `taken`, which is not 0, are free. The words are zero.
    void start(Word *words, unsigned order, std::uint32_t taken) {
        GR_CHECK(order <= kMostOrder && taken != 0);
        order_ = order;
        for (unsigned k = 0; k <= order; ++k) {
            rows_[k] = words;
            words += divide_up(std::size_t{1} << (order - k), kWordBits);
        }
        const std::uint32_t pages = std::uint32_t{1} << order;
        while (taken < pages) {
            const auto k = static_cast<unsigned>(std::countr_zero(taken));
            set(taken >> k, k);
            taken += std::uint32_t{1} << k;
        }
    }

    // The first page of a run; kNone: there is none so long. Of the shortest that do the first.
    std::uint32_t take(unsigned order) {
        const std::uint32_t fitting = orders_ & ~static_cast<std::uint32_t>(low_bits(order));
        if (fitting == 0) return kNone;
        auto k = static_cast<unsigned>(std::countr_zero(fitting));
        std::uint32_t run = first(k);
        clear(run, k);
        while (k != order) {
            --k;
            run *= 2;
            set(run + 1, k);
        }
        return run << order;
    }
    void put(std::uint32_t page, unsigned order) {
        std::uint32_t run = page >> order;
        GR_CHECK(run << order == page && !is_free(run, order));
        while (order != order_ && is_free(run ^ 1, order)) {
            clear(run ^ 1, order);
            run /= 2;
            ++order;
        }
        set(run, order);
    }

    // 0: nothing is free; else the order of the longest run, and one.
    unsigned above_longest() const { return static_cast<unsigned>(std::bit_width(orders_)); }
    std::uint32_t free_pages() const {
        std::uint32_t pages = 0;
        for (unsigned k = 0; k <= order_; ++k) pages += free_[k] << k;
        return pages;
    }
    void for_each_free(auto visit) const {
        for (unsigned k = 0; k <= order_; ++k)
            for (std::uint32_t run = 0; run < std::uint32_t{1} << (order_ - k); ++run)
                if (free_[k] != 0 && is_free(run, k)) visit(run << k, k);
    }
    // Of the runs of that order the one with this number.
    bool is_free(std::uint32_t run, unsigned order) const {
        return (rows_[order][run / kWordBits] >> run % kWordBits & 1) != 0;
    }

  private:
    std::uint32_t first(unsigned order) const {
        std::uint32_t w = 0;
        while (rows_[order][w] == 0) ++w;
        return w * kWordBits + static_cast<std::uint32_t>(std::countr_zero(rows_[order][w]));
    }
    void set(std::uint32_t run, unsigned order) {
        rows_[order][run / kWordBits] |= Word{1} << run % kWordBits;
        ++free_[order];
        orders_ |= std::uint32_t{1} << order;
    }
    void clear(std::uint32_t run, unsigned order) {
        rows_[order][run / kWordBits] &= ~(Word{1} << run % kWordBits);
        if (--free_[order] == 0) orders_ &= ~(std::uint32_t{1} << order);
    }

    unsigned order_ = 0;
    std::uint32_t orders_ = 0;  // those of which there are free runs
    std::uint32_t free_[kMostOrder + 1] = {};
    Word *rows_[kMostOrder + 1] = {};
};

}  // namespace gr::lab
