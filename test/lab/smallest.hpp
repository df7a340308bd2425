// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the smallest allocator that passes the lab's suites: what allocators/NAME.hpp must bring, in one page.
// Invariant: a block is a power of two long, with its tag; a free one lies in the list of its kind, and nothing else is
//    done with it. One lock. Larger blocks are mapped alone.
// Must not know: any paper.
//
//        malloc ---> [ list of 32 | 64 | ... | 32 KiB ] <--- free
//                          | empty: a piece of memory, cut
#pragma once

#include <bit>

#include "parts/contract/allocator.hpp"
#include "parts/layout/block_tag.hpp"
#include "parts/lists/free_list.hpp"
#include "parts/lists/lock.hpp"
#include "parts/memory/wilderness.hpp"

namespace gr::lab {

class Smallest {
  public:
    constexpr Smallest() = default;

    void *allocate(std::size_t size) {
        if (size > kLargest - kHead) return TaggedBlocks::allocate_large(size, kAlignment);
        const unsigned kind = kind_of(size + kHead);
        const std::lock_guard held(lock_);
        if (free_[kind].is_empty()) cut(kind);
        void *const block = free_[kind].pop();
        if (block != nullptr) set_tag(block, {static_cast<std::uint32_t>(kLeast << kind), 0, BlockState::in_use});
        return block;
    }
    void *allocate_aligned(std::size_t size, std::size_t alignment) {
        if (alignment > kMostTaggedAlignment) return nullptr;
        void *const block = allocate(size + alignment);
        return block == nullptr ? nullptr : TaggedBlocks::aligned_in(block, alignment);
    }
    void free(void *p) {
        void *const block = TaggedBlocks::block_of(p);
        const BlockTag tag = tag_of(block);
        if (tag.state == BlockState::large) return TaggedBlocks::free_large(block);
        const std::lock_guard held(lock_);
        set_tag(block, {tag.bytes, 0, BlockState::free});
        free_[kind_of(tag.bytes)].push(block);
    }
    std::size_t usable_size(const void *p) const { return TaggedBlocks::usable_size(p, kHead / kTagBytes); }
    std::size_t zeroed_above() const { return kLargest - kHead; }

    void thread_ends() {}
    void lock() { lock_.lock(); }
    void unlock() { lock_.unlock(); }

  private:
    static constexpr std::size_t kHead = kAlignment;  // the tag, and what keeps the block aligned
    static constexpr std::size_t kLeast = 32;
    static constexpr std::size_t kLargest = 32 * kKiB;
    static constexpr std::size_t kPiece = 64 * kKiB;
    static constexpr unsigned kKinds = std::countr_zero(kLargest / kLeast) + 1;

    static unsigned kind_of(std::size_t bytes) {
        const std::size_t length = std::bit_ceil(bytes < kLeast ? kLeast : bytes);
        return static_cast<unsigned>(std::countr_zero(length / kLeast));
    }

    void cut(unsigned kind) {
        char *const piece = memory_.extend(kPiece, kPiece);
        if (piece == nullptr) return;
        const std::size_t bytes = kLeast << kind;
        for (std::size_t end = kPiece; end >= bytes; end -= bytes) {
            void *const block = piece + end - bytes + kHead;
            set_tag(block, {static_cast<std::uint32_t>(bytes), 0, BlockState::free});
            free_[kind].push(block);
        }
    }

    Lock<Rank::heap> lock_;
    FreeList free_[kKinds];
    Wilderness memory_;
};

using Chosen = Smallest;

}  // namespace gr::lab
