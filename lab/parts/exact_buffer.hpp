// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the free-list buffer of an allocator that coalesces (Wasik 3.2.1.4, 5.10): a cache of blocks at the size that they
//       were freed with, so that the same request needs no joining and splitting.
// Invariant: one thread is in it. Blocks lie in the list of the largest bin that is not above their bytes. Once they take
//            kMostBytes together it is over, and all of them are cleared.
// Must not know: whose the blocks are.
#pragma once

#include <array>

#include "base/config.hpp"
#include "parts/free_list.hpp"
#include "parts/range_bins.hpp"

namespace gr::lab {

template <class Store>
class ExactBuffer {
    using Bins = typename Store::Bins;

  public:
    constexpr ExactBuffer() = default;

    // Of the request's own bin any that is large enough, else one of the next bin.
    void *take(std::size_t size) {
        const std::size_t bytes = Store::bytes_for(size);
        const unsigned bin = bin_at_or_below<Bins>(bytes);
        void *block = take_from(&lists_[bin], bytes);
        if (block == nullptr && bin + 1 < Bins::kCount) block = take_from(&lists_[bin + 1], bytes);
        if (block != nullptr) bytes_ -= Store::bytes_of(block);
        return block;
    }
    void put(void *block) {
        const std::size_t bytes = Store::bytes_of(block);
        FreeBlock *&list = lists_[bin_at_or_below<Bins>(bytes)];
        auto *const b = static_cast<FreeBlock *>(block);
        b->next = list;
        list = b;
        bytes_ += bytes;
    }
    bool is_over() const { return bytes_ >= kMostBytes; }
    template <class Give>
    void clear(Give give) {
        bytes_ = 0;
        for (FreeBlock *&list : lists_) {
            while (FreeBlock *const block = list) {
                list = block->next;
                give(block);
            }
        }
    }

  private:
    static constexpr std::size_t kMostBytes = 64 * kKiB;  // (5.10)

    static void *take_from(FreeBlock **list, std::size_t bytes) {
        for (; *list != nullptr; list = &(*list)->next) {
            FreeBlock *const block = *list;
            if (Store::bytes_of(block) < bytes) continue;
            *list = block->next;
            return block;
        }
        return nullptr;
    }

    std::array<FreeBlock *, Bins::kCount> lists_{};
    std::size_t bytes_ = 0;
};

}  // namespace gr::lab
