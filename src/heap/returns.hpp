// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: returns freed blocks to the bitmaps of their superblocks, for any owner: under the owner's lock, or by remote
//    bits.
// Invariant: every block is checked on that way: foreign pointers, pointers to the inside of a block, and double frees
//    end the program.
// Must not know: magazines, messages.
#pragma once

#include "heap/misuse.hpp"
#include "heap/ownership.hpp"

namespace gr {

class Returns {
  public:
    class Giver;

    constexpr Returns(Owners &owners, RemoteFrees &remote, Ownership &ownership, Superblocks &superblocks)
        : owners_(owners), remote_(remote), ownership_(ownership), superblocks_(superblocks) {}

    // Finds the block. A message about misuse names `function` as the function that frees.
    BlockRef find_or_die(const char *function, const void *p) const;
    // The heap's lock is held. A block whose superblock has another owner by now goes to that owner.
    void give_back(OwnerIndex o, void *const *blocks, std::uint32_t count, MayWait may_wait = MayWait::yes);
    // The caller holds no lock. in_handler: the caller is a signal handler, and the code that it interrupted may hold
    // locks.
    void give_one(const char *function, void *p, bool in_handler);

  private:
    void expect_none_of(const Superblock *s, std::span<void *const> blocks) const;

    Owners &owners_;
    RemoteFrees &remote_;
    Ownership &ownership_;
    Superblocks &superblocks_;
};

// Gives blocks to superblocks of the global heap, and of one heap that is asleep, under their owners' locks instead of
// by remote bits (design). Holds one lock at a time, from the first block given to let_go(), as long as the owner stays
// the same.
class Returns::Giver {
  public:
    Giver(Returns &returns, MayWait may_wait) : returns_(returns), may_wait_(may_wait) {}
    // Gives also to the heap that the sender's outbox knows as asleep.
    Giver(Returns &returns, Outbox &outbox) : returns_(returns), may_wait_(MayWait::yes), outbox_(&outbox) {}
    Giver(const Giver &) = delete;
    Giver &operator=(const Giver &) = delete;
    ~Giver() { let_go(); }

    // ref tells of the first block. Gives blocks as long as they lie in the same superblock, and returns how many.
    // Returns 0 if an awake heap owns the block, if the owner changed, or if the owner's lock could not be taken.
    std::uint32_t give(const BlockRef &ref, void *const *blocks, std::uint32_t count) {
        const OwnerIndex o = owner_of(ref.superblock);
        if (o == kNobody || (is_heap(o) && !is_asleep(o))) return 0;
        if (o != held_) {
            let_go();
            if (!(is_heap(o) ? lock_sleeper(o) : returns_.owners_.lock(o, may_wait_))) return 0;
            held_ = o;
        }
        if (owner_of(ref.superblock) != o) return 0;
        const std::uint32_t given = returns_.superblocks_.give(ref.superblock, blocks, count);
        if (given == 0) die_twice(returns_.owners_.setup().free, blocks[0], ref.superblock->shape().size);
        returns_.ownership_.gave(o, ref.superblock, given);
        return given;
    }

    void let_go() {
        if (held_ != kNobody) returns_.remote_.unlock_and_settle(held_);
        held_ = kNobody;
    }

  private:
    bool is_asleep(OwnerIndex o) const { return outbox_ != nullptr && outbox_->is_asleep(o); }
    // false: the heap is awake, and the outbox knows that from now on.
    bool lock_sleeper(OwnerIndex o) {
        if (!returns_.owners_.try_lock(o)) return outbox_->found_awake(), false;
        if (outbox_->is_asleep(o, returns_.owners_.heap(o).uses.load(std::memory_order_relaxed))) return true;
        outbox_->found_awake();
        returns_.remote_.unlock_and_settle(o);
        return false;
    }

    Returns &returns_;
    MayWait may_wait_;
    Outbox *outbox_ = nullptr;
    OwnerIndex held_ = kNobody;
};

}  // namespace gr
