// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: gives blocks to superblocks of the global heap.
// Invariant: at most one global bin's lock is held, from the first block given to let_go().
// Must not know: magazines, letters.
#pragma once

#include "heap/heaps.hpp"
#include "heap/misuse.hpp"

namespace gr {

// Their bins' locks are taken for that, not remote bits set (design): one at a time, kept while the class stays the
// same.
class Heaps::OfflineGiver {
  public:
    OfflineGiver(Heaps &heaps, MayWait may_wait) : heaps_(heaps), may_wait_(may_wait) {}
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
            if (!(may_wait_ == MayWait::yes ? heaps_.lock(o) : heaps_.try_lock(o))) return 0;
            held_ = o;
        }
        if (owner_of(ref.superblock) != o) return 0;
        const std::uint32_t given = heaps_.superblocks_.give(ref.superblock, blocks, count);
        if (given == 0) die_twice(heaps_.setup_.free, blocks[0], ref.superblock->shape().size);
        heaps_.gave(o, ref.superblock, given);
        return given;
    }

    void let_go() {
        if (held_ != kNobody) heaps_.unlock_and_settle(held_);
        held_ = kNobody;
    }

  private:
    Heaps &heaps_;
    MayWait may_wait_;
    OwnerIndex held_ = kNobody;
};

}  // namespace gr
