// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: blocks above half of a chunk: chunks of their own, known by one tree under one lock (jemalloc: "most
//    applications create few if any").
// Invariant: a block begins at a chunk's begin and takes whole chunks; it is in the tree from before it is handed out
//    until after it came back. What the tree needs lies apart, and is used again.
// Must not know: arenas.
#pragma once

#include <new>

#include "parts/jemalloc/chunk.hpp"
#include "parts/jemalloc/records.hpp"
#include "parts/lists/lock.hpp"
#include "parts/lists/red_black_tree.hpp"

namespace gr::lab {

class HugeBlocks {
  public:
    // What option P tells.
    struct Counts {
        std::size_t requests = 0;
        std::size_t bytes = 0;
        std::size_t most_bytes = 0;
    };

    // Zeroed, at a multiple of a chunk's size at least; nullptr: no memory.
    void *allocate(std::size_t size, std::size_t alignment, const ChunkShape &chunk) {
        const std::size_t bytes = align_up(size, chunk.bytes());
        void *const begin = platform::map(bytes, std::max(alignment, chunk.bytes()));
        if (begin == nullptr) return nullptr;
        if (!enter(begin, bytes)) {
            platform::unmap(begin, bytes);
            return nullptr;
        }
        Held::took(bytes);
        return begin;
    }
    // Dies of what is none.
    void free(void *p) {
        const std::size_t bytes = leave(p);
        Held::gave(bytes);
        platform::unmap(p, bytes);
    }
    // A thread that has taken all locks for a fork may ask, too.
    std::size_t usable_size(const void *p) {
        if (lock_.is_mine()) return of(p)->bytes;
        const std::lock_guard held(lock_);
        return of(p)->bytes;
    }

    void lock() { lock_.lock(); }
    void unlock() { lock_.unlock(); }

    Counts counts() {
        const std::lock_guard held(lock_);
        return counts_;
    }
    void draw(auto &picture) const {
        const auto place =
            picture.place(picture.top(), show::PlaceKind::list, picture.words("huge"), picture.words("huge blocks"));
        picture.lock(place, &lock_);
        blocks_.for_each([&](const HugeBlock &block) {
            const void *const begin = reinterpret_cast<const void *>(block.begin);
            picture.container(begin, show::ContainerKind::container, block.bytes, 1, block.bytes);
            picture.stands(begin, place);
            picture.block(begin, 0, begin, block.bytes);
        });
    }
    // For tests.
    const auto &tree() const { return blocks_; }

  private:
    struct HugeBlock : TreeNode {
        std::uintptr_t begin = 0;
        std::size_t bytes = 0;
    };
    struct ByBegin {
        static std::uintptr_t key(const HugeBlock &block) { return block.begin; }
    };

    // The lock is held.
    HugeBlock *of(const void *p) const {
        HugeBlock *const block = blocks_.find(reinterpret_cast<std::uintptr_t>(p));
        if (block == nullptr) die_of_no_block(p);
        return block;
    }
    // false: no memory.
    bool enter(void *begin, std::size_t bytes) {
        const std::lock_guard held(lock_);
        void *const record = records_.take();
        if (record == nullptr) return false;
        auto *const block = new (record) HugeBlock();
        block->begin = reinterpret_cast<std::uintptr_t>(begin);
        block->bytes = bytes;
        blocks_.insert(block);
        ++counts_.requests;
        counts_.bytes += bytes;
        counts_.most_bytes = std::max(counts_.most_bytes, counts_.bytes);
        return true;
    }
    std::size_t leave(const void *p) {
        const std::lock_guard held(lock_);
        HugeBlock *const block = of(p);
        const std::size_t bytes = block->bytes;
        blocks_.remove(block);
        records_.put(block);
        counts_.bytes -= bytes;
        return bytes;
    }

    Lock<Rank::page_heap> lock_;
    RedBlackTree<HugeBlock, ByBegin> blocks_;
    Records<sizeof(HugeBlock)> records_;
    Counts counts_;
};

}  // namespace gr::lab
