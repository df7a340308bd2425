// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: local heaps, each with one superblock online for each size class (LFMalloc 3.2.2, item 1), entered under a
//    lock.
// Invariant: a superblock is in one heap's table at most, and is local where it stands in it: so one store makes it
//    local to a heap and takes what was there out of it.
// Must not know: where superblocks come from; what a heap is chosen by.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <concepts>

#include "parts/composed/which_heap.hpp"
#include "parts/lfmalloc/local_list.hpp"
#include "parts/lists/lock.hpp"
#include "platform/memory.hpp"

namespace gr::lab {

// How local heaps are kept apart. A number of a heap: -1, the calling thread may use none.
template <class S>
concept LocalHeapsLike = Lockable<S> && requires(S heaps, unsigned bin, int heap, LocalList *list, void *block) {
    { heaps.start() } -> std::same_as<bool>;
    { heaps.heap_of_caller() } -> std::same_as<int>;
    { heaps.online(heap, bin) } -> std::same_as<LocalList *>;
    // Of the caller's heap; nullptr: nothing free, or interrupted.
    { heaps.pop(bin) } -> std::same_as<void *>;
    // false: not local to the caller's heap, or interrupted.
    { heaps.push(list, block) } -> std::same_as<bool>;
    // Replaces what is online in the heap. false: nothing happened: it is another, the thread has left the heap.
    { heaps.install(heap, bin, list, list) } -> std::same_as<bool>;
};

// Where the sequences look for what a CPU has: at the slab of its number. Zeroed memory is a heap with nothing online.
struct alignas(kSlabBytes) LocalHeap {
    static constexpr unsigned kMostBins = 56;

    std::array<std::atomic<LocalList *>, kMostBins> online;  // first
    Lock<Rank::heap> lock;
};

// "Per-CPU mutex", table 3.
template <WhichHeap Which>
class LockedHeaps {
  public:
    bool start() {
        const unsigned count = Which::count();
        const std::size_t bytes = count * sizeof(LocalHeap);
        heaps_ = static_cast<LocalHeap *>(platform::map(bytes, alignof(LocalHeap)));
        if (heaps_ == nullptr) return false;
        platform::allow_huge_pages(heaps_, bytes, false);  // most of it is never touched
        count_ = count;
        return true;
    }
    int heap_of_caller() const { return static_cast<int>(Which::of_caller(count_)); }
    // A hint.
    LocalList *online(int heap, unsigned bin) const { return heaps_[heap].online[bin].load(std::memory_order_relaxed); }
    void *pop(unsigned bin) {
        LocalHeap &heap = heaps_[heap_of_caller()];
        const std::lock_guard held(heap.lock);
        LocalList *const list = heap.online[bin].load(std::memory_order_relaxed);
        return list == nullptr ? nullptr : list->pop();
    }
    bool push(LocalList *list, void *block) {
        LocalHeap &heap = heaps_[heap_of_caller()];
        const std::lock_guard held(heap.lock);
        if (heap.online[list->bin].load(std::memory_order_relaxed) != list) return false;
        list->push(block);
        return true;
    }
    bool install(int number, unsigned bin, LocalList *expected, LocalList *desired) {
        LocalHeap &heap = heaps_[number];
        const std::lock_guard held(heap.lock);
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

    // The heaps that have a superblock online, and the caller's.
    void draw(auto &picture) const {
        for (unsigned i = 0; i < count_; ++i) {
            const bool is_callers = i == Which::of_caller(count_);
            const auto is_online = [](const std::atomic<LocalList *> &list) {
                return list.load(std::memory_order_relaxed) != nullptr;
            };
            if (!is_callers && std::ranges::none_of(heaps_[i].online, is_online)) continue;
            const auto place = picture.place(picture.top(), show::PlaceKind::heap, picture.words("heap.", i),
                                             picture.words("heap ", i));
            picture.lock(place, &heaps_[i].lock);
            if (is_callers) picture.is_callers(place);
            for (unsigned bin = 0; bin < LocalHeap::kMostBins; ++bin) {
                LocalList *const list = online(static_cast<int>(i), bin);
                if (list == nullptr) continue;
                picture.stands(list->begin(), picture.place(place, show::PlaceKind::online, picture.words("b", bin),
                                                            picture.words("online for ", list->block_bytes, " bytes")));
            }
        }
    }

  protected:
    LocalHeap *heaps_ = nullptr;
    unsigned count_ = 0;
};

}  // namespace gr::lab
