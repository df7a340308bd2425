// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the superblocks of one class in one heap, in fullness groups (Hoard 3), and the sums that Hoard's invariant
//    needs.
// Invariant: a = superblocks * blocks, u = a - free_blocks. A superblock with free blocks is in the list of its group;
//    a full superblock is in no list. All under the owner's lock.
// Must not know: where superblocks come from and go to.
#pragma once

#include "superblock/superblocks.hpp"

namespace gr {

class Bin {
  public:
    void adopt(Superblock *s) {
        ++superblocks_;
        free_blocks_ += s->free_count;
        place(s);
    }
    void abandon(Superblock *s) {
        --superblocks_;
        free_blocks_ -= s->free_count;
        remove(s);
    }
    void took(Superblock *s, std::uint32_t blocks) {
        free_blocks_ -= blocks;
        regroup(s);
    }
    void gave(Superblock *s, std::uint32_t blocks) {
        free_blocks_ += blocks;
        regroup(s);
    }

    Superblock *fullest() const {
        for (Superblock *first : groups_) {
            if (first != nullptr) return first;
        }
        return nullptr;
    }
    // A superblock that is at least f empty, from the emptiest group; nullptr: there is none.
    Superblock *emptiest() const {
        for (unsigned g = kFullnessGroups - 1; g != 0; --g) {
            if (groups_[g] != nullptr) return groups_[g];
        }
        return nullptr;
    }
    Superblock *first_of(unsigned group) const { return groups_[group]; }

    std::uint32_t superblocks() const { return superblocks_; }
    std::uint64_t free_blocks() const { return free_blocks_; }
    std::uint64_t used_blocks(ClassIndex c) const {
        return std::uint64_t{superblocks_} * shape_of(c).blocks - free_blocks_;
    }

    // Read without the owner's lock, so the numbers may be stale.
    std::uint64_t peek_superblocks() const { return peek(superblocks_); }
    std::uint64_t peek_free_blocks() const { return peek(free_blocks_); }

    // Hoard: u >= a - K*S or u >= (1-f)*a, in blocks.
    bool keeps_hoards_invariant(ClassIndex c) const {
        const std::uint64_t blocks = shape_of(c).blocks;
        return free_blocks_ <= kSlackSuperblocks * blocks || free_blocks_ * kEmptinessParts <= superblocks_ * blocks;
    }

    // Visits the superblocks that have free blocks.
    template <class Visit>
    void for_each(Visit visit) const {
        for (const Superblock *first : groups_) {
            for (const Superblock *s = first; s != nullptr; s = s->next) visit(s);
        }
    }

    bool is_valid(const Superblocks &superblocks) const {
        std::uint64_t free = 0;
        std::uint32_t listed = 0;
        for (unsigned g = 0; g < kFullnessGroups; ++g) {
            for (const Superblock *s = groups_[g]; s != nullptr; s = s->next) {
                if (s->group != g || group_of(s) != g || !superblocks.is_valid(s)) return false;
                if (s->next != nullptr && s->next->previous != s) return false;
                free += s->free_count;
                ++listed;
            }
        }
        return free == free_blocks_ && listed <= superblocks_;
    }

  private:
    static_assert(kFullnessGroups == kEmptinessParts, "group g > 0 is at least f empty");

    template <class Number>
    static Number peek(const Number &n) {
        return std::atomic_ref<Number>(const_cast<Number &>(n)).load(std::memory_order_relaxed);
    }
    static std::uint8_t group_of(const Superblock *s) {
        if (s->is_full()) return kNoGroup;
        const std::uint32_t group = s->free_count * kFullnessGroups / s->shape().blocks;
        return static_cast<std::uint8_t>(group < kFullnessGroups ? group : kFullnessGroups - 1);
    }
    void place(Superblock *s) {
        s->group = group_of(s);
        if (s->group == kNoGroup) return;
        Superblock *&first = groups_[s->group];
        s->previous = nullptr;
        s->next = first;
        if (first != nullptr) first->previous = s;
        first = s;
    }
    void remove(Superblock *s) {
        if (s->group == kNoGroup) return;
        if (s->previous != nullptr) {
            s->previous->next = s->next;
        } else {
            groups_[s->group] = s->next;
        }
        if (s->next != nullptr) s->next->previous = s->previous;
        s->group = kNoGroup;
    }
    void regroup(Superblock *s) {
        if (s->group == group_of(s)) return;
        remove(s);
        place(s);
    }

    Superblock *groups_[kFullnessGroups];
    std::uint32_t superblocks_;
    std::uint64_t free_blocks_;
};

}  // namespace gr
