// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the thread-local free-list buffer (Wasik 3.1.3, 5.6): what a thread freed it takes again without a lock.
// Invariant: one thread is in it. A list that takes more than kMostBytes is over, and is cleared as a whole.
// Must not know: whose the blocks are.
#pragma once

#include <array>
#include <concepts>

#include "base/config.hpp"
#include "parts/free_list.hpp"

namespace gr::lab {

template <class B>
concept FreeListBufferLike = requires(B buffer, std::size_t size, void *block) {
    // nullptr: none that fits.
    { buffer.take(size) } -> std::same_as<void *>;
    { buffer.put(block) } -> std::same_as<void>;
    // After a put: it is time for a clear.
    { buffer.is_over() } -> std::same_as<bool>;
    // Calls give(block) for each block that is given away.
    buffer.clear([](void *) {});
};

template <class Store>
class FreeListBuffer {
  public:
    constexpr FreeListBuffer() = default;

    void *take(std::size_t size) { return lists_[Store::bin_of(size)].pop(); }
    void put(void *block) {
        last_put_ = Store::bin_of_block(block);
        lists_[last_put_].push(block);
    }
    bool is_over() const { return lists_[last_put_].count() * Store::size_of(last_put_) > kMostBytes; }
    template <class Give>
    void clear(Give give) {
        FreeList blocks = lists_[last_put_].take_all();
        while (void *const block = blocks.pop()) give(block);
    }

  private:
    static constexpr std::size_t kMostBytes = 2 * kUnitBytes;  // two containers' (5.6)

    std::array<FreeList, Store::kBins> lists_{};
    unsigned last_put_ = 0;
};

// What is owned by others waits where it is not taken again (3.1.1.1).
struct NoBuffer {};

}  // namespace gr::lab
