// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what is free in one heap, coalesced: taking splits a block, putting joins it with its neighbours (Wasik
//    3.2.1.3).
// Invariant: a block that is free here has this heap's number in both tags, and no neighbour that is free here, too.
// Must not know: buffers, remote lists, the global heap.
#pragma once

#include <concepts>

#include "parts/layout/boundary_tags.hpp"

namespace gr::lab {

// How free blocks are found by size: range_bins.hpp, size_tree.hpp.
template <class I>
concept FreeIndex = requires(I index, const I const_index, std::size_t bytes, void *block) {
    // What it writes into a block; and whether it is for blocks up to a whole region of so many bytes.
    typename I::Node;
    { I::is_for(bytes) } -> std::same_as<bool>;
    // Of all blocks.
    { const_index.bytes() } -> std::same_as<std::size_t>;
    index.insert(block);
    { index.remove(block) } -> std::same_as<void>;
    // One of so many bytes at least, which stays; nullptr: there is none.
    { const_index.find(bytes) } -> std::same_as<void *>;
};

template <class Tags, FreeIndex Index>
class FreeRanges {
    static_assert(Index::is_for(Tags::kWholeBytes), "the last bin must hold whole regions");
    static_assert(Tags::kLeastBytes >= Tags::kTagsBytes + sizeof(typename Index::Node),
                  "the smallest block must have room for a node");

  public:
    using Ranges = Index;

    const Ranges &ranges() const { return ranges_; }

    // Of so many bytes, or hardly more; the rest of a larger one stays. nullptr: nothing is so large.
    void *take(std::size_t bytes) {
        void *const block = take_unsplit(bytes);
        void *const rest = block == nullptr ? nullptr : Tags::split(block, bytes);
        if (rest != nullptr) {
            show::rule("Wasik 001, 3.2.1.3", "The free block is larger than what is asked for: it is split.");
            put(rest, Tags::heap_of(rest));
        }
        return block;
    }
    // All of the block that take would take from.
    void *take_unsplit(std::size_t bytes) { return take_out(ranges_.find(bytes)); }
    // Any of a bin; nullptr: there is none.
    void *pop(unsigned bin) { return take_out(ranges_.first(bin)); }

    // The block that it is now, with what was free beside it.
    void *put(void *block, HeapNumber heap) {
        if (void *const before = Tags::free_before(block, heap)) {
            show::rule("Wasik 001, 3.2.1.3", "The block before it is free: the two are joined.");
            ranges_.remove(before);
            block = Tags::join(before, block);
        }
        if (void *const after = Tags::free_after(block, heap)) {
            show::rule("Wasik 001, 3.2.1.3", "The block behind it is free: the two are joined.");
            ranges_.remove(after);
            Tags::join(block, after);
        }
        Tags::set_tags(block, Tags::bytes_of(block), heap, BlockState::free);
        ranges_.insert(block);
        return block;
    }

    void draw(auto &picture, auto place) const { ranges_.draw(picture, place, show::Shown::free); }

  private:
    // In no list from now on, so that no neighbour takes it for a part of itself.
    void *take_out(void *block) {
        if (block == nullptr) return nullptr;
        ranges_.remove(block);
        Tags::set_tags(block, Tags::bytes_of(block), Tags::heap_of(block), BlockState::cached);
        return block;
    }

    Ranges ranges_;
};

}  // namespace gr::lab
