// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a list of free blocks, last in first out, linked through their first words, with their number.
// Invariant: count = the blocks that a walk from head meets.
// Must not know: how long a block is, and which thread may touch the list.
#pragma once

#include <cstddef>

namespace gr::lab {

struct FreeBlock {
    FreeBlock *next;
};

class FreeList {
  public:
    bool is_empty() const { return head_ == nullptr; }
    std::size_t count() const { return count_; }

    void push(void *block) {
        auto *const b = static_cast<FreeBlock *>(block);
        b->next = head_;
        head_ = b;
        ++count_;
    }
    // nullptr: there is none.
    void *pop() {
        FreeBlock *const b = head_;
        if (b == nullptr) return nullptr;
        head_ = b->next;
        --count_;
        return b;
    }
    // The `wanted` that were freed last, or all.
    FreeList take(std::size_t wanted) {
        FreeList taken;
        while (taken.count_ < wanted && head_ != nullptr) taken.push(pop());
        return taken;
    }
    FreeList take_all() {
        const FreeList all = *this;
        *this = FreeList();
        return all;
    }
    void for_each(auto visit) const {
        for (FreeBlock *b = head_; b != nullptr; b = b->next) visit(b);
    }
    // All of the other's, in front.
    void append(FreeList other) {
        while (void *const block = other.pop()) push(block);
    }

  private:
    friend class BlockGroups;
    friend class LockFreeRemoteList;

    FreeBlock *head_ = nullptr;
    std::size_t count_ = 0;
};

}  // namespace gr::lab
