// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the store of a heap whose free blocks lie in a list for each bin, whatever container or buffer a block came
//    from (Wasik 5.1 to 5.3), and the global heap behind the stores.
// Invariant: a free block is in one list: the list of the bin that its header names. A list whose blocks take more than
//    2 times the largest bin gives half of them to the global heap; a heap whose lists take 64 times gives all (5.2).
// Must not know: which thread's heap it is.
#pragma once

#include <array>

#include "parts/layout/object_layouts.hpp"
#include "parts/lists/free_list.hpp"
#include "parts/lists/lock.hpp"
#include "parts/lists/remote_list.hpp"
#include "parts/stores/block_store.hpp"
#include "parts/stores/features.hpp"

namespace gr::lab {

// The bins that hold something.
template <class Layout>
void draw_free_lists(auto &picture, auto place, const std::array<FreeList, Layout::kBins> &lists) {
    for (unsigned bin = 0; bin < Layout::kBins; ++bin) {
        if (lists[bin].is_empty()) continue;
        const auto own = picture.place(place, show::PlaceKind::bin, picture.words("b", bin),
                                       picture.words(Layout::size_of(bin), " bytes"));
        lists[bin].for_each([&](const void *block) { picture.listed(block, own, show::Shown::free); });
    }
}

// The global heap: objects that any heap may take (3.1.1). With a remote list, objects that heaps give wait in it,
// under a lock of its own, so a thread that takes objects does not wait for threads that give objects (3.2.1.5).
template <class Layout, bool kHasRemoteList>
class GlobalObjects {
  public:
    // nullptr: there is none. In the base case the global heap has the allocation buffer (5.2).
    void *take(unsigned bin, HeapNumber heap) {
        const std::lock_guard held(lock_);
        void *block = lists_[bin].pop();
        if constexpr (kHasRemoteList) {
            if (block == nullptr) {
                lists_[bin] = given_[bin].take_all();
                block = lists_[bin].pop();
            }
        }
        if constexpr (!Layout::kHeapHasBuffer) {
            if (block == nullptr) block = buffer_.take(bin, heap);
            if (block == nullptr && buffer_.renew(bin)) block = buffer_.take(bin, heap);
        }
        return block;
    }
    void give(unsigned bin, FreeList blocks) {
        if constexpr (kHasRemoteList) {
            while (void *const block = blocks.pop()) given_[bin].push(block);
        } else {
            const std::lock_guard held(lock_);
            lists_[bin].append(blocks);
        }
    }
    // false: no heap owns the objects here, and all are free.
    bool put(void *) { return false; }

    void lock() { lock_all(lock_, given_); }
    void unlock() { unlock_all(lock_, given_); }
    void draw(auto &picture, auto place) const {
        picture.lock(place, &lock_);
        draw_free_lists<Layout>(picture, place, lists_);
        if constexpr (kHasRemoteList) {
            const auto given =
                picture.place(place, show::PlaceKind::remote, picture.words("given"), picture.words("given"));
            for (const auto &list : given_) list.draw(picture, given);
        }
        if constexpr (!Layout::kHeapHasBuffer) buffer_.draw(picture, place);
    }

  private:
    Lock<Rank::global_bin> lock_;
    std::array<FreeList, Layout::kBins> lists_{};
    std::array<LockedRemoteList<Rank::worklist>, kHasRemoteList ? Layout::kBins : 0> given_{};
    typename Layout::Buffer buffer_;
};

template <ObjectLayout Layout, Features kF>
class FreeListStore : public Layout {
  public:
    using Global = GlobalObjects<Layout, kF.have(global_remote_list)>;

    void *take(std::size_t size) {
        const unsigned bin = Layout::bin_of(size);
        if (void *const block = lists_[bin].pop()) {
            show::rule("Wasik 001, 5.1", "The bin's list has a free block: the one that was freed last is taken.");
            count_free(0 - Layout::size_of(bin));
            return block;
        }
        return Layout::kHeapHasBuffer ? buffer_.take(bin, heap_) : nullptr;
    }
    void put(void *block, Global &global) {
        const unsigned bin = keep(block);
        if constexpr (!kF.have_global_heap()) return;
        const std::size_t count = lists_[bin].count();
        if (count * Layout::size_of(bin) > kMostOfBin * Layout::largest()) {
            show::rule("Wasik 001, 5.2", "The bin has too much that is free: half of it goes to the global heap.");
            give(bin, count / 2, global);
        }
        if (free_bytes_ > kMostOfHeap * Layout::largest()) {
            show::rule("Wasik 001, 5.2", "The heap has too much that is free: all of it goes to the global heap.");
            empty(global);
        }
    }
    // All that was freed here goes to the global heap.
    void empty(Global &global) {
        for (unsigned each = 0; each < Layout::kBins; ++each) give(each, lists_[each].count(), global);
    }
    bool grow(std::size_t size, Global &global, HeapNumber heap) {
        const unsigned bin = Layout::bin_of(size);
        if constexpr (kF.have(ownership)) heap_ = heap;
        if constexpr (kF.have_global_heap()) {
            show::rule("Wasik 001, 3.1.1", "The thread's heap has nothing of this size: the global heap is asked.");
            if (void *const block = global.take(bin, heap)) {
                Layout::move_to(block, heap);
                keep(block);
                return true;
            }
        }
        if constexpr (!Layout::kHeapHasBuffer) return false;
        return buffer_.renew(bin);
    }
    void draw(auto &picture, auto place) const {
        draw_free_lists<Layout>(picture, place, lists_);
        if constexpr (Layout::kHeapHasBuffer) buffer_.draw(picture, place);
    }

  private:
    // Returns the bin.
    unsigned keep(void *block) {
        const unsigned bin = Layout::bin_of_block(block);
        lists_[bin].push(block);
        count_free(Layout::size_of(bin));
        return bin;
    }
    // The sum is kept only if there is a global heap. Without one, bins may have locks of their own, and no lock would
    // protect the sum.
    void count_free(std::size_t bytes) {
        if constexpr (kF.have_global_heap()) free_bytes_ += bytes;
    }
    void give(unsigned bin, std::size_t count, Global &global) {
        if (count == 0) return;
        count_free(0 - count * Layout::size_of(bin));
        global.give(bin, lists_[bin].take(count));
    }

    std::array<FreeList, Layout::kBins> lists_{};
    std::size_t free_bytes_ = 0;
    HeapNumber heap_ = 0;
    typename Layout::Buffer buffer_;
};

}  // namespace gr::lab
