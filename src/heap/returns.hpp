// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: freed blocks back to the bitmaps of their superblocks, whoever owns these: under the owner's lock, or by remote
//    bits.
// Invariant: every block is checked on that way: foreign, interior and doubled ones end the program.
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

    // Where the block lies. `function` names who frees it in a message about misuse.
    BlockRef find_or_die(const char *function, const void *p) const;
    // The heap's lock is held. Blocks whose superblock has moved on in the meantime go to its owner.
    void give_back(OwnerIndex o, void *const *blocks, std::uint32_t count, MayWait may_wait = MayWait::yes);
    // No lock is held, but perhaps by the code that this handler has interrupted.
    void give_one(const char *function, void *p, bool in_handler);

  private:
    void expect_none_of(const Superblock *s, std::span<void *const> blocks) const;

    Owners &owners_;
    RemoteFrees &remote_;
    Ownership &ownership_;
    Superblocks &superblocks_;
};

// Gives blocks to superblocks of the global heap, and of one that sleeps. Their owners' locks are taken for that, not
// remote bits set (design): one at a time, from the first block given to let_go(), kept while the owner stays the same.
class Returns::Giver {
  public:
    Giver(Returns &returns, MayWait may_wait) : returns_(returns), may_wait_(may_wait) {}
    // To the heap that sleeps, too, as the sender's outbox knows it.
    Giver(Returns &returns, Outbox &outbox) : returns_(returns), may_wait_(MayWait::yes), outbox_(&outbox) {}
    Giver(const Giver &) = delete;
    Giver &operator=(const Giver &) = delete;
    ~Giver() { let_go(); }

    // Blocks from the first on, which ref tells of, as long as they lie in the same superblock; how many they were.
    // 0: it is a heap's.
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
    // false: it is awake, as the outbox knows from now on.
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
