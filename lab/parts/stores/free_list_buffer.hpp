// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the thread-local free-list buffer (Wasik 3.1.3, 5.6): a thread takes blocks that it freed again without a lock.
//    Where blocks coalesce, the buffer is a cache of blocks at the size that they were freed with, so that a request of
//    that size needs no joining and splitting (3.2.1.4, 5.10).
// Invariant: one thread uses a buffer. When a list, or a cache, takes too much, all of the buffer is given away (5.6).
// Must not know: which heap owns a block.
// Differs: a buffer gives block by block, and where their heap has a lock each takes it anew; in 3.1.3 it is taken
//    once.
#pragma once

#include <array>
#include <concepts>

#include "base/config.hpp"
#include "parts/layout/range_bins.hpp"
#include "parts/lists/free_list.hpp"

namespace gr::lab {

template <class B>
concept FreeListBufferLike = requires(B buffer, std::size_t size, void *block) {
    // nullptr: none that fits.
    { buffer.take(size) } -> std::same_as<void *>;
    // Calls give(block) for each block that is given away, this one among them.
    buffer.put(block, [](void *) {});
};

template <class Store>
class FreeListBuffer {
  public:
    void *take(std::size_t size) { return lists_[Store::bin_of(size)].pop(); }
    void put(void *block, auto give) {
        const unsigned bin = Store::bin_of_block(block);
        lists_[bin].push(block);
        show::rule("Wasik 001, 3.1.3", "The thread keeps the block in its free-list buffer, without a lock.");
        if (lists_[bin].count() * Store::size_of(bin) <= kMostBytes) return;
        show::rule("Wasik 001, 5.6", "A list of the buffer has too much: all of the buffer is given away.");
        for (FreeList &list : lists_)
            while (void *const each = list.pop()) give(each);
    }
    void draw(auto &picture, auto place) const {
        for (const FreeList &list : lists_)
            list.for_each([&](const void *block) { picture.listed(block, place, show::Shown::buffered); });
    }

  private:
    static constexpr std::size_t kMostBytes = 2 * kUnitBytes;  // two containers' (5.6)

    std::array<FreeList, Store::kBins> lists_{};
};

template <class Store>
class ExactBuffer {
    using Ranges = RangeBins<typename Store::Bins, Fit::first_of_bin>;

  public:
    // Of the request's own bin any that is large enough, else one of the next bin.
    void *take(std::size_t size) {
        const std::size_t bytes = Store::bytes_for(size);
        void *const block = ranges_.find(bytes);
        if (block == nullptr || Ranges::bin_of(block) > Ranges::bin_of_bytes(bytes) + 1) return nullptr;
        ranges_.remove(block);
        return block;
    }
    void put(void *block, auto give) {
        ranges_.insert(block);
        show::rule("Wasik 001, 3.2.1.4",
                   "The thread keeps the block in its buffer: it is not joined with its neighbours.");
        if (ranges_.bytes() < kMostBytes) return;
        show::rule("Wasik 001, 5.10", "The buffer has too much: all of it is given away.");
        for (unsigned bin = 0; bin <= Ranges::kLast; ++bin) {
            while (void *const each = ranges_.first(bin)) {
                ranges_.remove(each);
                give(each);
            }
        }
    }
    void draw(auto &picture, auto place) const { ranges_.draw(picture, place, show::Shown::buffered); }

  private:
    static constexpr std::size_t kMostBytes = 64 * kKiB;  // (5.10)

    Ranges ranges_;
};

// Stands for the second buffer, of other heaps' blocks, where there is none (3.1.1.1).
struct NoBuffer {};

}  // namespace gr::lab
