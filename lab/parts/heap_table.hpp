// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: heaps by number, made when they are first wanted.
// Invariant: a number that was given out leads to its heap for ever: heaps are never unmade. 0 is no heap's.
// Must not know: what a heap is, and which thread's.
#pragma once

#include <atomic>
#include <new>

#include "parts/block_tag.hpp"
#include "parts/wilderness.hpp"

namespace gr::lab {

template <class Heap>
class HeapTable {
  public:
    constexpr HeapTable() = default;

    Heap *of(HeapNumber number) const {
        return heaps_[number].load(std::memory_order_acquire);  // pairs with make
    }
    // nullptr: no memory, or more heaps than numbers.
    Heap *make() {
        char *const place = wilderness_.extend(sizeof(Heap), Wilderness::kPage);
        if (place == nullptr) return nullptr;
        const HeapNumber number = made_.fetch_add(1, std::memory_order_relaxed) + 1;
        if (number >= kMost) {
            made_.store(kMost - 1, std::memory_order_relaxed);
            return nullptr;
        }
        auto *const heap = new (place) Heap();
        heap->number = number;
        heaps_[number].store(heap, std::memory_order_release);  // the heap's contents, with the acquire of `of`
        return heap;
    }
    template <class Visit>
    void for_each(Visit visit) {
        const HeapNumber made = made_.load(std::memory_order_relaxed);
        for (HeapNumber number = 1; number <= made && number < kMost; ++number)
            if (Heap *const heap = of(number)) visit(*heap);
    }
    HeapNumber count() const { return made_.load(std::memory_order_relaxed); }

  private:
    static constexpr HeapNumber kMost = 1U << 16;

    Wilderness wilderness_;
    std::atomic<HeapNumber> made_{0};  // ordered by nothing
    std::atomic<Heap *> heaps_[kMost]{};
};

}  // namespace gr::lab
