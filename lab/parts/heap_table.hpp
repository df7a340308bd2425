// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: heaps by number, made when they are first wanted, and how a call enters one.
// Invariant: a number that was given out leads to its heap for ever: heaps are never unmade. 0 is no heap's. Who holds the
//            list's lock sees no heap being made.
// Must not know: what a heap is, and which thread's.
#pragma once

#include <atomic>
#include <new>

#include "parts/block_tag.hpp"
#include "parts/lock.hpp"
#include "parts/wilderness.hpp"

namespace gr::lab {

template <class Heap, LockLike ListLock>
class HeapTable {
    static_assert(alignof(Heap) <= Wilderness::kPage);

  public:
    constexpr HeapTable() = default;

    Heap *of(HeapNumber number) const {
        return heaps_[number].load(std::memory_order_acquire);  // pairs with make
    }
    HeapNumber count() const { return made_.load(std::memory_order_relaxed); }
    template <class Visit>
    void for_each(Visit visit) {
        for (HeapNumber number = 1; number <= count() && number < kMost; ++number)
            if (Heap *const heap = of(number)) visit(*heap);
    }
    Heap *enter(Heap *heap, unsigned bin) {
        heap->lock_of(bin).lock();
        return heap;
    }
    void leave(Heap *heap, unsigned bin) { heap->lock_of(bin).unlock(); }
    void done() {}
    void thread_ends() {}
    void lock() { lock_.lock(); }
    void unlock() { lock_.unlock(); }

  protected:
    // The list's lock is held. nullptr: no memory, or more heaps than numbers.
    Heap *make() {
        char *const place = wilderness_.extend(sizeof(Heap), Wilderness::kPage);
        const HeapNumber number = place == nullptr ? kMost : made_.fetch_add(1, std::memory_order_relaxed) + 1;
        if (number >= kMost) return nullptr;
        auto *const heap = new (place) Heap();
        heap->number = number;
        heaps_[number].store(heap, std::memory_order_release);  // the heap's contents, with the acquire of `of`
        return heap;
    }
    // The one that all share, or begin with.
    Heap *first() {
        if (Heap *const heap = of(1)) return heap;
        const Locked held(lock_);
        Heap *const heap = of(1);
        return heap != nullptr ? heap : make();
    }

    ListLock lock_;

  private:
    static constexpr HeapNumber kMost = 1U << 16;

    Wilderness wilderness_;
    std::atomic<HeapNumber> made_{0};  // ordered by nothing
    std::atomic<Heap *> heaps_[kMost]{};
};

}  // namespace gr::lab
