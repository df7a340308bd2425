// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a heap whose blocks have exact sizes and are split and joined (Wasik 5.10), and the global heap behind it.
// Invariant: with ownership all blocks of a region are one heap's, and go to the global heap together, wholly free; in use or
//            not, each names its owner. Without it a block may be freed into any heap and names the one in whose lists it
//            is free; a list that takes more than 2 times the largest block gives half of it away, a heap whose lists take
//            64 times gives all (5.2), for its regions seldom become whole.
// Must not know: which thread's heap it is.
#pragma once

#include "parts/block_store.hpp"
#include "parts/free_ranges.hpp"
#include "parts/lock.hpp"
#include "parts/remote_list.hpp"
#include "parts/wilderness.hpp"

namespace gr::lab {

struct CoalescingRules {
    Fit fit = Fit::first_of_bin;
    bool has_ownership = false;
    bool has_global_heap = true;
    bool has_remote_list = false;  // of the global heap
};

// Regions and bins of the thesis; with the best fit larger regions (Ptmalloc's heaps have that size), what is mapped alone
// as Doug Lea's (4.2), and narrower bins, so that less is looked at.
template <Fit kFit>
struct CoalescedBlocks : BoundaryTags<64 * kKiB> {
    using Bins = GeometricBins<kWholeBytes>;
    static constexpr std::size_t largest() { return kWholeBytes - kTagsBytes; }
};
template <>
struct CoalescedBlocks<Fit::best> : BoundaryTags<kMiB> {
    using Bins = GeometricBins<kWholeBytes, 11>;
    static constexpr std::size_t largest() { return 128 * kKiB; }
};

// What heaps have in common, and memory that nobody had yet. What is free here has the number 0. With a remote list, what
// is given waits apart under a lock of its own (3.2.1.5).
template <class Blocks, Fit kFit, bool kHasRemoteList>
class GlobalRanges {
  public:
    constexpr GlobalRanges() = default;

    // Of so many bytes at least; nullptr: there is none.
    void *take(std::size_t bytes) {
        const Locked held(lock_);
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
            const Locked held(lock_);
            while (void *const block = blocks.pop()) ranges_.put(block, 0);
        }
    }
    // Nothing that lies here is in use.
    bool put(void *) { return false; }

    void lock() {
        lock_.lock();
        given_.lock();
    }
    void unlock() {
        given_.unlock();
        lock_.unlock();
    }

  private:
    Lock<Rank::global_bin> lock_;
    FreeRanges<Blocks, typename Blocks::Bins, kFit> ranges_;
    LockedRemoteList<Rank::worklist> given_;
    Wilderness wilderness_;
};

template <CoalescingRules kRules>
class CoalescingStore : public CoalescedBlocks<kRules.fit> {
    using Blocks = CoalescedBlocks<kRules.fit>;
    using Free = FreeRanges<Blocks, typename Blocks::Bins, kRules.fit>;

  public:
    using Global = GlobalRanges<Blocks, kRules.fit, kRules.has_remote_list>;

    // One remote list for all sizes (5.10): what was freed there may be joined to any.
    static constexpr unsigned kBins = 1;
    static unsigned bin_of(std::size_t) { return 0; }
    static unsigned bin_of_block(const void *) { return 0; }

    constexpr CoalescingStore() = default;

    void *take(std::size_t size) { return free_.take(Blocks::bytes_for(size)); }
    void put(void *block) { last_put_ = free_.put(block, kRules.has_ownership ? Blocks::heap_of(block) : number()); }
    bool grow(std::size_t size, Global &global, HeapNumber heap) {
        void *block = kRules.has_global_heap ? global.take(Blocks::bytes_for(size)) : nullptr;
        if (block == nullptr) block = global.make();
        if (block == nullptr) return false;
        free_.put(block, kRules.has_ownership ? heap : number());
        return true;
    }
    void shed(Global &global) {
        if constexpr (!kRules.has_global_heap) return;
        FreeList given;
        take_down_to(0, kWhole, &given);
        if constexpr (!kRules.has_ownership) {
            constexpr std::size_t kMost = kMostOfBin * Blocks::kWholeBytes;
            if (free_.ranges().bytes_in(last_put_) > kMost) take_down_to(kMost / 2, last_put_, &given);
            if (free_.ranges().bytes() > kMostOfHeap * Blocks::kWholeBytes)
                for (unsigned bin = 0; bin < kWhole; ++bin) take_down_to(0, bin, &given);
        }
        global.give(given);
    }
    std::size_t free_bytes() const { return free_.ranges().bytes(); }

  private:
    static constexpr std::size_t kMostOfBin = 2;  // times the largest (5.2)
    static constexpr std::size_t kMostOfHeap = 64;
    static constexpr unsigned kWhole = Free::Ranges::kLast;

    void take_down_to(std::size_t bytes, unsigned bin, FreeList *taken) {
        while (free_.ranges().bytes_in(bin) > bytes) taken->push(free_.pop(bin));
    }
    // Who puts blocks that name no owner names these lists himself, before he knows of a heap.
    HeapNumber number() {
        static constinit std::atomic<HeapNumber> numbers{0};  // ordered by nothing
        if (number_ == 0) number_ = numbers.fetch_add(1, std::memory_order_relaxed) + 1;
        return number_;
    }

    Free free_;
    unsigned last_put_ = 0;
    HeapNumber number_ = 0;  // without ownership
};

}  // namespace gr::lab
