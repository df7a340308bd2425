// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Hoard's algorithm (figure 2): heaps that own superblocks, heap 0 behind them, and what moves from one to the
//    other.
// Invariant: u >= a - K * S or u >= (1 - f) * a for each heap but heap 0 and each size class, after each operation
//    (with K = 0 after each free: a first block in a superblock is below any threshold). A superblock changes its owner
//    under the locks of both, and has one owner: a freed block goes to the owner's heap.
// Must not know: which heap is whose.
#pragma once

#include <atomic>
#include <new>
#include <span>

#include "parts/composed/which_heap.hpp"
#include "parts/hoard/fullness_groups.hpp"
#include "parts/layout/container.hpp"
#include "parts/layout/size_bins.hpp"
#include "parts/lists/lock.hpp"
#include "parts/memory/options.hpp"
#include "parts/memory/wilderness.hpp"
#include "platform/events.hpp"
#include "platform/memory.hpp"

namespace gr::lab {

constexpr bool is_option(const Option &option, std::string_view name, std::uint64_t parts) {
    return option.name == name && option.parts == parts && option.is_valid();
}
// A table of f (in groups), K, S, b (in hundredths) and e (0 or 1), in this order.
template <class O>
concept EmptinessOptions = requires {
    requires O::kTable.size() == 5;
    requires is_option(O::kTable[0], "f", EmptinessThreshold::kGroups);
    requires is_option(O::kTable[1], "K", 1);
    requires is_option(O::kTable[2], "S", 1);
    requires is_option(O::kTable[3], "b", 100);
    requires is_option(O::kTable[4], "e", 1);
    requires O::kTable[2].is_power_of_two;
};

template <WhichHeap Which, unsigned kHeapsPerProcessor, EmptinessOptions Options>
class EmptinessHeaps {
    static constexpr std::size_t kMostContainerBytes = 64 * kKiB;
    static_assert(kHeapsPerProcessor > 0, "every processor has a heap");
    static_assert(Options::kTable[0].least > 0 && Options::kTable[0].most < EmptinessThreshold::kGroups,
                  "f must be above 0 and below 1: otherwise a heap keeps nothing or everything");
    static_assert(Options::kTable[2].least >= 4 * kKiB && Options::kTable[2].most <= kMostContainerBytes,
                  "S must be at least a page and at most the size that the tables allow");
    static_assert(Options::kTable[3].least >= 105, "b must be at least 1.05, so that the classes fit their table");
    static constexpr std::size_t kMostBlock = align_down((kMostContainerBytes - sizeof(Container)) / 2, kAlignment);
    static constexpr unsigned kMostBins = 128;

  public:
    using Blocks = InContainers<EmptinessHeaps>;
    using LargeBlocks = ContainedLargeBlocks<EmptinessHeaps>;
    static constexpr std::size_t kMostLimit = kMostBlock + 1;
    static std::size_t container_bytes() { return chosen_bytes; }
    static Container *container_of(const void *p) { return Container::at(p, chosen_bytes); }

    bool start() {
        const std::lock_guard held(start_lock_);
        return limit() != 0 || set_up();
    }
    // acquire: pairs with the start, which another thread may have made.
    std::size_t limit() const { return limit_.load(std::memory_order_acquire); }

    // malloc of figure 2 from line 2 on.
    void *take(std::size_t size) {
        const unsigned bin = classes_.bin_of(size);
        const HeapNumber i = 1 + Which::of_caller(heap_count());
        const std::lock_guard held(heaps_[i]);  // to line 17
        FullnessGroups &own = heaps_[i].classes[bin];
        Container *s = own.fullest();
        if (s == nullptr) {
            s = obtain(bin, i);
            if (s == nullptr) return nullptr;
            own.add(s);  // lines 12 and 14
        }
        void *const block = own.take(s);  // lines 15 and 16
        GR_CHECK(threshold_.slack_superblocks == 0 || !own.crosses(threshold_));
        return block;
    }
    // free of figure 2 from line 3 on. Its lock on the superblock keeps the owner what it was until the owner's lock is
    // held. Nothing else is done under it, so here the owner is looked at again with its lock held: one lock less for
    // each free, and no superblock's lock is taken before a heap's while malloc, which has a heap's, would want a
    // superblock's.
    void put(void *block) {
        Container *const s = container_of(block);
        for (;;) {
            // acquire: pairs with the move.
            const HeapNumber i = s->heap.load(std::memory_order_acquire);
            if (i == 0 ? put_in_heap_0(s, block) : put_in_heap(i, s, block)) return;
        }
    }

    void thread_ends() {}
    void lock() { lock_all(start_lock_, heaps_, heap_0_lock_); }
    void unlock() { unlock_all(start_lock_, heaps_, heap_0_lock_); }

    // For tests.
    const EmptinessThreshold &threshold() const { return threshold_; }
    const RadixMap<kMostBlock, kMostBins> &classes() const { return classes_; }
    unsigned heap_count() const { return static_cast<unsigned>(heaps_.size()) - 1; }
    const FullnessGroups &groups(HeapNumber heap, unsigned bin) const { return heaps_[heap].classes[bin]; }

  private:
    // Heap 0 has a lock of its own, which comes after these.
    struct alignas(kCacheLineBytes) Heap : Lock<Rank::heap> {
        FullnessGroups classes[kMostBins];
    };

    bool set_up() {
        auto table = Options::kTable;
        OptionReader(table).read_environment();
        threshold_ = {table[0].value, table[1].value};
        chosen_bytes = table[2].value;
        empty_first_ = table[4].value != 0;
        const std::size_t largest = align_down((table[2].value - sizeof(Container)) / 2, kAlignment);
        classes_ = RadixMap<kMostBlock, kMostBins>(largest, static_cast<unsigned>(table[3].value));
        const std::size_t count = 1 + kHeapsPerProcessor * Which::count();
        void *const memory = platform::map(count * sizeof(Heap), platform::page_size());
        if (memory == nullptr) return false;
        heaps_ = {static_cast<Heap *>(memory), count};
        for (Heap &heap : heaps_) new (&heap) Heap();
        limit_.store(largest + 1, std::memory_order_release);
        return true;
    }
    // Lines 6 to 14: a superblock with free blocks, owned by heap i. Of empty ones heap 0 forgets the class (3:
    // recycled for any). Line 6 leaves open which superblock of heap 0 comes first. A partly full one has blocks of
    // other threads, so it may share cache lines with them: table 3 counts these. Empty ones first (e=1) makes fewer.
    Container *obtain(unsigned bin, HeapNumber i) {
        platform::count(platform::Event::refill);
        const std::lock_guard held(heap_0_lock_);
        FullnessGroups &global = heaps_[0].classes[bin];
        Container *s = empty_first_ ? empty_.pop_front() : nullptr;
        if (s == nullptr) s = take_partly_full(global);
        if (s == nullptr && !empty_first_) s = empty_.pop_front();
        if (s == nullptr) s = Container::make(wilderness_.extend(chosen_bytes, chosen_bytes), chosen_bytes);
        if (s == nullptr) return nullptr;
        if (s->is_empty()) s->format(bin, classes_.size_of(bin));
        s->heap.store(i, std::memory_order_release);
        return s;
    }
    // Lines 11 and 13, for heap 0. nullptr: there is none.
    static Container *take_partly_full(FullnessGroups &global) {
        Container *const s = global.fullest();
        if (s == nullptr) return nullptr;
        global.remove(s);
        platform::count(platform::Event::shared_superblock);
        platform::count(platform::Event::shared_block, s->used);
        return s;
    }

    // false: it is not the owner any more.
    bool put_in_heap(HeapNumber i, Container *s, void *block) {
        const std::lock_guard held(heaps_[i]);
        if (s->heap.load(std::memory_order_relaxed) != i) return false;
        FullnessGroups &own = heaps_[i].classes[s->bin];
        own.put(s, block);  // lines 5 to 7
        // Line 9. Blocks are whole: where S does not divide by f, one superblock can leave part of a block to do.
        while (own.crosses(threshold_)) {
            Container *const s1 = own.emptiest();
            own.remove(s1);
            accept(s1);
        }
        GR_CHECK(!own.crosses(threshold_));
        return true;
    }
    bool put_in_heap_0(Container *s, void *block) {
        const std::lock_guard held(heap_0_lock_);
        if (s->heap.load(std::memory_order_relaxed) != 0) return false;
        FullnessGroups &global = heaps_[0].classes[s->bin];
        global.put(s, block);
        if (s->is_empty()) {
            global.remove(s);
            empty_.push_front(s);
        }
        return true;  // line 8
    }
    // Lines 10 to 12.
    void accept(Container *s1) {
        const std::lock_guard held(heap_0_lock_);
        s1->heap.store(0, std::memory_order_release);
        if (s1->is_empty())
            empty_.push_front(s1);
        else
            heaps_[0].classes[s1->bin].add(s1);
    }

    static inline constinit std::size_t chosen_bytes = kMostContainerBytes;  // S, the process's

    std::atomic<std::size_t> limit_{0};
    std::span<Heap> heaps_;  // heap 0 the first
    EmptinessThreshold threshold_;
    bool empty_first_ = true;
    RadixMap<kMostBlock, kMostBins> classes_;
    Lock<Rank::instances> start_lock_;
    Lock<Rank::global_bin> heap_0_lock_;
    LinkedList<Container> empty_;
    Wilderness wilderness_;
};

}  // namespace gr::lab
