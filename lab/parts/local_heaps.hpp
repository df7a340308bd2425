// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: local heaps, each with one superblock online for each size class (LFMalloc 3.2.2, item 1), entered under a lock.
// Invariant: a superblock is in one heap's table at most, and is local where it stands in it: so one store makes it local
//            to a heap and takes what was there out of it.
// Must not know: where superblocks come from; what a heap is chosen by.
#pragma once

#include <array>
#include <atomic>
#include <concepts>
#include <new>

#include "parts/local_list.hpp"
#include "parts/lock.hpp"
#include "parts/which_heap.hpp"
#include "platform/memory.hpp"

namespace gr::lab {

// How local heaps are kept apart. A number of a heap: -1, the calling thread may use none.
template <class S>
concept LocalHeapsLike = requires(S heaps, unsigned bin, int heap, LocalList *list, void *block) {
    { heaps.start() } -> std::same_as<bool>;
    { heaps.heap_of_caller() } -> std::same_as<int>;
    { heaps.online(heap, bin) } -> std::same_as<LocalList *>;
    // Of the caller's heap; nullptr: nothing free, or interrupted.
    { heaps.pop(bin) } -> std::same_as<void *>;
    // false: not local to the caller's heap, or interrupted.
    { heaps.push(list, block) } -> std::same_as<bool>;
    // Replaces what is online in the heap. false: nothing happened: it is another, the thread has left the heap.
    { heaps.install(heap, bin, list, list) } -> std::same_as<bool>;
    { heaps.lock() } -> std::same_as<void>;
    { heaps.unlock() } -> std::same_as<void>;
};

struct alignas(kCacheLineBytes) LocalHeap {
    static constexpr unsigned kMostBins = 56;

    std::array<std::atomic<LocalList *>, kMostBins> online{};
    Lock<Rank::heap> lock;
};
inline constexpr unsigned kLocalHeapShift = 9;  // the assembly knows it
static_assert(sizeof(LocalHeap) == std::size_t{1} << kLocalHeapShift);

// "Per-CPU mutex", table 3.
template <WhichHeap Which>
class LockedHeaps {
  public:
    constexpr LockedHeaps() = default;

    bool start() {
        const unsigned count = Which::count();
        void *const memory = platform::map(count * sizeof(LocalHeap), platform::page_size());
        if (memory == nullptr) return false;
        heaps_ = static_cast<LocalHeap *>(memory);
        for (unsigned i = 0; i < count; ++i) new (&heaps_[i]) LocalHeap();
        count_ = count;
        return true;
    }
    int heap_of_caller() const { return static_cast<int>(Which::of_caller(count_)); }
    // A hint.
    LocalList *online(int heap, unsigned bin) const { return heaps_[heap].online[bin].load(std::memory_order_relaxed); }
    void *pop(unsigned bin) {
        LocalHeap &heap = heaps_[heap_of_caller()];
        const Locked held(heap.lock);
        LocalList *const list = heap.online[bin].load(std::memory_order_relaxed);
        return list == nullptr ? nullptr : list->pop();
    }
    bool push(LocalList *list, void *block) {
        LocalHeap &heap = heaps_[heap_of_caller()];
        const Locked held(heap.lock);
        if (heap.online[list->bin].load(std::memory_order_relaxed) != list) return false;
        list->push(block);
        return true;
    }
    bool install(int number, unsigned bin, LocalList *expected, LocalList *desired) {
        LocalHeap &heap = heaps_[number];
        const Locked held(heap.lock);
        if (heap.online[bin].load(std::memory_order_relaxed) != expected) return false;
        heap.online[bin].store(desired, std::memory_order_relaxed);
        return true;
    }
    void lock() {
        for (unsigned i = 0; i < count_; ++i) heaps_[i].lock.lock();
    }
    void unlock() {
        for (unsigned i = count_; i > 0; --i) heaps_[i - 1].lock.unlock();
    }

    LocalHeap *heaps() const { return heaps_; }
    unsigned count() const { return count_; }

  private:
    LocalHeap *heaps_ = nullptr;
    unsigned count_ = 0;
};

static_assert(LocalHeapsLike<LockedHeaps<ByCpu>> && LocalHeapsLike<LockedHeaps<ByThreadHash>>);

}  // namespace gr::lab
