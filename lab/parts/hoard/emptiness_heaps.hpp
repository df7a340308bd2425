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
#include "parts/hoard/emptiness_options.hpp"
#include "parts/hoard/fullness_groups.hpp"
#include "parts/layout/container.hpp"
#include "parts/layout/size_bins.hpp"
#include "parts/lists/lock.hpp"
#include "parts/memory/options.hpp"
#include "parts/memory/wilderness.hpp"
#include "platform/events.hpp"
#include "platform/memory.hpp"

namespace gr::lab {

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
        show::rule("Hoard 000, figure 2, malloc lines 2 and 3",
                   "The hash of the thread names heap i, which is locked.");
        const std::lock_guard held(heaps_[i]);  // to line 17
        FullnessGroups &own = heaps_[i].classes[bin];
        Container *s = own.fullest();
        if (s == nullptr) {
            s = obtain(bin, i);
            if (s == nullptr) return nullptr;
            own.add(s);  // lines 12 and 14
        } else {
            show::rule("Hoard 000, figure 2, malloc line 4",
                       "The fullest superblock that has a free block is taken from.");
        }
        void *const block = own.take(s);  // lines 15 and 16
        show::rule("Hoard 000, figure 2, malloc lines 15 and 16",
                   "u of heap i and of the superblock grow by the block.");
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

    void draw(auto &picture) const {
        const auto start =
            picture.place(picture.top(), show::PlaceKind::list, picture.words("start"), picture.words("the start"));
        picture.lock(start, &start_lock_);
        for (HeapNumber i = 1; i < heaps_.size(); ++i) draw_heap(picture, i, show::PlaceKind::heap);
        if (heaps_.empty()) return;
        const auto global = draw_heap(picture, 0, show::PlaceKind::global);
        picture.lock(global, &heap_0_lock_);
        empty_.for_each([&](const Container &s) { s.draw(picture, show::ContainerKind::superblock); });
        empty_.draw(picture, global, show::PlaceKind::list, "empty");
    }

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

    // A heap that has superblocks, with its classes that have some. u and a of a heap are the sums of its classes.
    auto draw_heap(auto &picture, HeapNumber i, show::PlaceKind kind) const {
        const auto place = picture.place(picture.top(), kind, picture.words("heap.", i), picture.words("heap ", i));
        picture.lock(place, &heaps_[i]);
        if (i != 0 && i == 1 + Which::of_caller(heap_count())) picture.is_callers(place);
        std::size_t used = 0;
        std::size_t all = 0;
        for (unsigned bin = 0; bin < classes_.bins(); ++bin) {
            const FullnessGroups &groups = heaps_[i].classes[bin];
            if (groups.blocks() == 0) continue;
            const std::size_t size = classes_.size_of(bin);
            groups.draw(
                picture,
                picture.place(place, show::PlaceKind::bin, picture.words("b", bin), picture.words(size, " bytes")),
                size);
            used += groups.used() * size;
            all += groups.blocks() * size;
        }
        picture.number(place, "u", used);
        picture.number(place, "a", all);
        return place;
    }
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
        show::rule("Hoard 000, figure 2, malloc line 6",
                   "No superblock of heap i has a free block: heap 0 is looked at.");
        const std::lock_guard held(heap_0_lock_);
        FullnessGroups &global = heaps_[0].classes[bin];
        Container *s = empty_first_ ? empty_.pop_front() : nullptr;
        if (s == nullptr) s = take_partly_full(global);
        if (s == nullptr && !empty_first_) s = empty_.pop_front();
        if (s == nullptr) {
            show::rule("Hoard 000, figure 2, malloc line 8",
                       "Heap 0 has none: S bytes of the system are heap i's superblock.");
            s = Container::make(wilderness_.extend(chosen_bytes, chosen_bytes), chosen_bytes);
        } else {
            show::rule("Hoard 000, figure 2, malloc lines 10 to 14",
                       "A superblock of heap 0 moves to heap i, with its u and a.");
        }
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
        show::rule("Hoard 000, figure 2, free lines 3 and 4",
                   "Heap i owns the superblock of the block: heap i is locked.");
        const std::lock_guard held(heaps_[i]);
        if (s->heap.load(std::memory_order_relaxed) != i) return false;
        FullnessGroups &own = heaps_[i].classes[s->bin];
        show::rule("Hoard 000, figure 2, free lines 5 to 7",
                   "The block goes back to its superblock: both u fall by the block.");
        own.put(s, block);  // lines 5 to 7
        // Line 9. Blocks are whole: where S does not divide by f, one superblock can leave part of a block to do.
        while (own.crosses(threshold_)) {
            show::rule("Hoard 000, figure 2, free line 9", "u < a - K * S and u < (1 - f) * a: heap i is too empty.");
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
        show::rule("Hoard 000, figure 2, free line 8", "Heap 0 owns the superblock: nothing moves.");
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
        show::rule("Hoard 000, figure 2, free lines 10 to 12",
                   "A mostly empty superblock moves to heap 0, with its u and a.");
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
