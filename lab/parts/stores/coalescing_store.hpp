// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the store of a heap whose blocks have exact sizes and are split and joined (Wasik 5.10), and the global heap
//    behind the stores.
// Invariant: with ownership, all blocks of a region are one heap's and name it, in use or not; the region goes to the
//    global heap when it is one free block. Without ownership, a block may be freed into any heap, and a free block
//    names the store in whose lists it lies. Such regions seldom become one block, so a list that takes more than 2
//    times the largest block gives half of it to the global heap, and a heap whose lists take 64 times gives all (5.2).
// Must not know: which thread's heap it is.
#pragma once

#include <type_traits>

#include "parts/layout/free_ranges.hpp"
#include "parts/layout/range_bins.hpp"
#include "parts/layout/size_tree.hpp"
#include "parts/lists/lock.hpp"
#include "parts/lists/remote_list.hpp"
#include "parts/memory/wilderness.hpp"
#include "parts/stores/block_store.hpp"
#include "parts/stores/features.hpp"

namespace gr::lab {

// Regions and bins of the thesis (5.10).
struct FirstFitBlocks : BoundaryTags<64 * kKiB> {
    using Bins = GeometricBins<kWholeBytes>;
    using Index = RangeBins<Bins, Fit::first_of_bin>;
    static constexpr std::size_t largest() { return kWholeBytes - kTagsBytes; }
};
// For the best fit: regions are larger, as Ptmalloc's heaps are, and the limit above which a block is mapped alone is
// Doug Lea's (4.2).
template <class Node>
struct LargeRegions : BoundaryTags<kMiB, Node> {
    static constexpr std::size_t largest() { return 128 * kKiB; }
};
// Narrower bins, so that a search looks at fewer blocks.
struct BestFitBlocks : LargeRegions<ListNode> {
    using Bins = GeometricBins<kWholeBytes, 11>;
    using Index = RangeBins<Bins, Fit::best>;
};
// Solaris' (4.1).
struct TreeBlocks : LargeRegions<SizeTree::Node> {
    using Index = SizeTree;
};
template <Features kF>
using CoalescedBlocks = std::conditional_t<kF.have(search_tree), TreeBlocks,
                                           std::conditional_t<kF.have(best_fit), BestFitBlocks, FirstFitBlocks>>;

// The global heap: free blocks that any heap may take, and memory that was never used. Blocks that are free here have
// the number 0. With a remote list, blocks that heaps give wait in it, under a lock of its own (3.2.1.5).
template <class Blocks, bool kHasRemoteList>
class GlobalRanges {
  public:
    // A block of so many bytes at least; nullptr: there is none.
    void *take(std::size_t bytes) {
        const std::lock_guard held(lock_);
        if (void *const block = ranges_.take_unsplit(bytes)) return block;
        if constexpr (!kHasRemoteList) return nullptr;
        FreeList given = given_.take_all();
        while (void *const block = given.pop()) ranges_.put(block, 0);
        return ranges_.take_unsplit(bytes);
    }
    // A whole region; nullptr: no memory.
    void *make() {
        char *const region = wilderness_.extend(Blocks::kRegionBytes, Blocks::kRegionBytes);
        return region == nullptr ? nullptr : Blocks::make_whole(region);
    }
    void give(FreeList blocks) {
        if (blocks.is_empty()) return;
        if constexpr (kHasRemoteList) {
            while (void *const block = blocks.pop()) given_.push(block);
        } else {
            const std::lock_guard held(lock_);
            while (void *const block = blocks.pop()) ranges_.put(block, 0);
        }
    }
    // Nothing that lies here is in use.
    bool put(void *) { return false; }

    void lock() { lock_all(lock_, given_); }
    void unlock() { unlock_all(lock_, given_); }
    void draw(auto &picture, auto place) const {
        picture.lock(place, &lock_);
        ranges_.draw(picture, place);
        if constexpr (!kHasRemoteList) return;
        const auto given =
            picture.place(place, show::PlaceKind::remote, picture.words("given"), picture.words("given"));
        given_.draw(picture, given);
    }

  private:
    Lock<Rank::global_bin> lock_;
    FreeRanges<Blocks, typename Blocks::Index> ranges_;
    LockedRemoteList<Rank::worklist> given_;
    Wilderness wilderness_;
};

template <Features kF>
class CoalescingStore : public CoalescedBlocks<kF> {
    using Blocks = CoalescedBlocks<kF>;
    using Free = FreeRanges<Blocks, typename Blocks::Index>;

  public:
    using Global = GlobalRanges<Blocks, kF.have(global_remote_list)>;

    // One remote list for all sizes (5.10): a block from it may be joined to a block of any size.
    static constexpr unsigned kBins = 1;
    static unsigned bin_of(std::size_t) { return 0; }
    static unsigned bin_of_block(const void *) { return 0; }

    void *take(std::size_t size) { return free_.take(Blocks::bytes_for(size)); }
    void put(void *block, Global &global) {
        void *const joined = free_.put(block, kIsOwned ? Blocks::heap_of(block) : number());
        if constexpr (kF.have_global_heap()) global.give(surplus(Free::Ranges::bin_of(joined)));
    }
    bool grow(std::size_t size, Global &global, HeapNumber heap) {
        void *block = kF.have_global_heap() ? global.take(Blocks::bytes_for(size)) : nullptr;
        if (block == nullptr) {
            show::rule("Wasik 001, 5.10", "Nothing that is free is large enough: a new region is one free block.");
            block = global.make();
        }
        if (block == nullptr) return false;
        free_.put(block, kIsOwned ? heap : number());
        return true;
    }
    std::size_t free_bytes() const { return free_.ranges().bytes(); }
    void draw(auto &picture, auto place) const { free_.draw(picture, place); }

  private:
    static constexpr bool kIsOwned = kF.have(ownership);

    // Takes out the blocks that are to go to the global heap, after a block came to that bin.
    FreeList surplus(unsigned bin) {
        constexpr unsigned kWhole = Free::Ranges::kLast;
        FreeList given;
        take_down_to(0, kWhole, &given);
        if constexpr (!kIsOwned) {
            constexpr std::size_t kMost = kMostOfBin * Blocks::kWholeBytes;
            if (free_.ranges().bytes_in(bin) > kMost) take_down_to(kMost / 2, bin, &given);
            if (free_.ranges().bytes() > kMostOfHeap * Blocks::kWholeBytes)
                for (unsigned each = 0; each < kWhole; ++each) take_down_to(0, each, &given);
        }
        return given;
    }
    void take_down_to(std::size_t bytes, unsigned bin, FreeList *taken) {
        while (free_.ranges().bytes_in(bin) > bytes) taken->push(free_.pop(bin));
    }
    // Without ownership, the number by which free blocks name this store. The store takes it itself, because blocks may
    // be put before the store knows its heap's number.
    HeapNumber number() {
        static constinit std::atomic<HeapNumber> numbers{0};  // ordered by nothing
        if (number_ == 0) number_ = numbers.fetch_add(1, std::memory_order_relaxed) + 1;
        return number_;
    }

    Free free_;
    HeapNumber number_ = 0;  // without ownership
};

}  // namespace gr::lab
