// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the chunks of an arena, and the runs that are carved from them.
// Invariant: each chunk with something in use is in the list of its longest free run; a run comes from one whose longest is
//            the shortest that does. Of chunks that emptied one stays, the last; the others go back to the kernel.
// Must not know: what runs are for.
#pragma once

#include <algorithm>
#include <utility>

#include "parts/chunk.hpp"

namespace gr::lab {

template <class Owner>
class ChunkSet {
    using OwnersChunk = Chunk<Owner>;

  public:
    constexpr ChunkSet() = default;

    // nullptr: no memory.
    void *take(const ChunkShape &shape, Owner *owner, unsigned order, PageUse use) {
        OwnersChunk *chunk = nullptr;
        for (unsigned longest = order; chunk == nullptr && longest < shape.order(); ++longest)
            chunk = lists_[longest + 1].first();
        if (chunk != nullptr) {
            lists_[chunk->above_longest_run()].remove(chunk);
        } else {
            chunk = std::exchange(spare_, nullptr);
            if (chunk == nullptr) chunk = make(shape, owner);
            if (chunk == nullptr) return nullptr;
        }
        void *const run = chunk->take(order, use);
        lists_[chunk->above_longest_run()].push_front(chunk);
        return run;
    }
    // purge: the kernel gets the run's pages back at once.
    void put(const ChunkShape &shape, OwnersChunk *chunk, const PageEntry &entry, bool purge) {
        if (purge) platform::purge(chunk->run_of(entry), kRunPageBytes << entry.order);
        lists_[chunk->above_longest_run()].remove(chunk);
        chunk->put(entry);
        if (!chunk->is_empty(shape)) return lists_[chunk->above_longest_run()].push_front(chunk);
        give_back_spare(shape);
        spare_ = chunk;
    }
    // false: there was none.
    bool give_back_spare(const ChunkShape &shape) {
        if (spare_ == nullptr) return false;
        --count_;
        std::exchange(spare_, nullptr)->unmake(shape);
        return true;
    }

    // With the spare one; now, at most, and ever made.
    std::size_t count() const { return count_; }
    std::size_t most() const { return most_; }
    std::size_t made() const { return made_; }
    bool has_spare() const { return spare_ != nullptr; }

  private:
    OwnersChunk *make(const ChunkShape &shape, Owner *owner) {
        OwnersChunk *const chunk = OwnersChunk::make(shape, owner);
        if (chunk == nullptr) return nullptr;
        ++made_;
        ++count_;
        most_ = std::max(most_, count_);
        return chunk;
    }

    LinkedList<OwnersChunk> lists_[kMostChunkShift - kRunPageShift + 1];  // [order + 1], and [0]: nothing free
    OwnersChunk *spare_ = nullptr;
    std::size_t count_ = 0;
    std::size_t most_ = 0;
    std::size_t made_ = 0;
};

}  // namespace gr::lab
