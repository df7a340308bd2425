// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what is free in one heap, coalesced: taking splits a block, putting joins it with its neighbours (Wasik
//    3.2.1.3).
// Invariant: a block that is free here has this heap's number in both tags, and no neighbour that is free here, too.
// Must not know: buffers, remote lists, the global heap.
#pragma once

#include "parts/boundary_tags.hpp"
#include "parts/range_bins.hpp"

namespace gr::lab {

template <class Tags, SizeBins Bins, Fit kFit>
class FreeRanges {
    static_assert(Bins::largest() == Tags::kWholeBytes, "the last bin must hold whole regions");

  public:
    using Ranges = RangeBins<Bins, kFit>;

    const Ranges &ranges() const { return ranges_; }

    // Of so many bytes, or hardly more; the rest of a larger one stays. nullptr: nothing is so large.
    void *take(std::size_t bytes) {
        void *const block = take_unsplit(bytes);
        void *const rest = block == nullptr ? nullptr : Tags::split(block, bytes);
        if (rest != nullptr) put(rest, Tags::heap_of(rest));
        return block;
    }
    // All of the block that take would take from.
    void *take_unsplit(std::size_t bytes) { return take_out(ranges_.find(bytes)); }
    // Any of a bin; nullptr: there is none.
    void *pop(unsigned bin) { return take_out(ranges_.first(bin)); }

    // In which bin it lies now, with what was free beside it.
    unsigned put(void *block, HeapNumber heap) {
        if (void *const before = Tags::free_before(block, heap)) {
            ranges_.remove(before);
            block = Tags::join(before, block);
        }
        if (void *const after = Tags::free_after(block, heap)) {
            ranges_.remove(after);
            Tags::join(block, after);
        }
        Tags::set_tags(block, Tags::bytes_of(block), heap, BlockState::free);
        return ranges_.insert(block);
    }

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
