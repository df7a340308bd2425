// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: groups of free blocks that are handed over as one (Boehm 002, Observations: objects that are enqueued in
//    groups, so that a lock is taken for each group and not for each object).
// Invariant: all groups have the same number of blocks, which the caller knows. The first block of a group leads to the
//    group below by its first word, and to the rest of its own by its second.
// Must not know: how long a block is, and which threads may touch the groups.
#pragma once

#include "parts/contract/allocator.hpp"
#include "parts/lists/free_list.hpp"

namespace gr::lab {

class BlockGroups {
  public:
    std::size_t count() const { return firsts_.count(); }

    // Not empty.
    void push(FreeList group) {
        auto *const first = static_cast<First *>(group.pop());
        first->rest = group.head_;
        firsts_.push(first);
    }
    // Of so many blocks; empty: there is none.
    FreeList pop(std::size_t blocks) {
        FreeList group;
        auto *const first = static_cast<First *>(firsts_.pop());
        if (first == nullptr) return group;
        group.head_ = first->rest;
        group.count_ = blocks - 1;
        group.push(first);
        return group;
    }

    void for_each(auto visit) const {
        firsts_.for_each([&](const FreeBlock *first) {
            visit(first);
            for (const FreeBlock *b = static_cast<const First *>(first)->rest; b != nullptr; b = b->next) visit(b);
        });
    }

  private:
    struct First : FreeBlock {
        FreeBlock *rest;
    };
    static_assert(sizeof(First) <= kAlignment, "any block has room for both words");

    FreeList firsts_;
};

}  // namespace gr::lab
