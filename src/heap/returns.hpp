// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: freed blocks back to the bitmaps of their superblocks, whoever owns these: under the owner's lock, or by remote
//       bits.
// Invariant: every block is checked on that way: foreign, interior and doubled ones end the program.
// Must not know: magazines, letters.
#pragma once

#include "heap/misuse.hpp"
#include "heap/ownership.hpp"

namespace gr {

class Returns {
  public:
    class OfflineGiver;

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

// Gives blocks to superblocks of the global heap. Their bins' locks are taken for that, not remote bits set (design):
// one at a time, from the first block given to let_go(), kept while the class stays the same.
class Returns::OfflineGiver {
  public:
    OfflineGiver(Returns &returns, MayWait may_wait) : returns_(returns), may_wait_(may_wait) {}
    OfflineGiver(const OfflineGiver &) = delete;
    OfflineGiver &operator=(const OfflineGiver &) = delete;
    ~OfflineGiver() { let_go(); }

    // Blocks from the first on, which ref tells of, as long as they lie in the same superblock; how many they were.
    // 0: it is a heap's.
    std::uint32_t give(const BlockRef &ref, void *const *blocks, std::uint32_t count) {
        const OwnerIndex o = owner_of(ref.superblock);
        if (is_heap(o) || o == kNobody) return 0;
        if (o != held_) {
            let_go();
            if (!returns_.owners_.lock(o, may_wait_)) return 0;
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
    Returns &returns_;
    MayWait may_wait_;
    OwnerIndex held_ = kNobody;
};

}  // namespace gr
