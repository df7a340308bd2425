// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the free-list buffer of an allocator that coalesces (Wasik 3.2.1.4, 5.10): a cache of blocks at the size that they
//       were freed with, so that the same request needs no joining and splitting.
// Invariant: one thread is in it. Once its blocks take kMostBytes together it is over, and all of them are cleared.
// Must not know: whose the blocks are.
#pragma once

#include "base/config.hpp"
#include "parts/range_bins.hpp"

namespace gr::lab {

template <class Store>
class ExactBuffer {
    using Ranges = RangeBins<typename Store::Bins, Fit::first_of_bin>;

  public:
    constexpr ExactBuffer() = default;

    // Of the request's own bin any that is large enough, else one of the next bin.
    void *take(std::size_t size) {
        const std::size_t bytes = Store::bytes_for(size);
        void *const block = ranges_.find(bytes);
        if (block == nullptr || Ranges::bin_of(block) > Ranges::bin_of_bytes(bytes) + 1) return nullptr;
        ranges_.remove(block);
        return block;
    }
    void put(void *block) { ranges_.insert(block); }
    bool is_over() const { return ranges_.bytes() >= kMostBytes; }
    template <class Give>
    void clear(Give give) {
        for (unsigned bin = 0; bin <= Ranges::kLast; ++bin) {
            while (void *const block = ranges_.first(bin)) {
                ranges_.remove(block);
                give(block);
            }
        }
    }

  private:
    static constexpr std::size_t kMostBytes = 64 * kKiB;  // (5.10)

    Ranges ranges_;
};

}  // namespace gr::lab
