// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: frees blocks by their superblocks' remote bits, and makes sure that each owner collects these bits and its
//    messages (docs/design/remote-protocol.md).
// Invariant: a thread that unlocks an owner looks afterwards whether something waits for that owner (rule 3). So bits
//    and messages are never forgotten.
// Must not know: what becomes of the blocks that a drain finds; only drain.cpp knows.
#pragma once

#include "heap/address_saving.hpp"
#include "heap/owners.hpp"
#include "superblock/superblocks.hpp"

namespace gr {

class Ownership;
class Messenger;

// A drain gives blocks to ownership and messenger. These return blocks, lock other owners, unlock and settle in turn.
// Two references here and drain.cpp close this circle of calls, and nothing else does.
class RemoteFrees {
  public:
    class Batch;

    constexpr RemoteFrees(Owners &owners, Superblocks &superblocks, Ownership &ownership, Messenger &messenger,
                          const AddressSaving &address_saving)
        : superblocks_(superblocks), address_saving_(address_saving), world_{owners, ownership, messenger} {}

    // Sets remote bits of one word, and announces them to the owner.
    void set(Superblock *s, std::uint32_t word, Word mask, MayWait may_wait);
    // Rule 6: `bytes` more are on the way to this owner. Beyond a threshold, or in address-saving mode, the caller
    // drains the owner now, because the owner may be idle. Not inside another drain, which could become as deep as
    // there are heaps.
    void note(OwnerIndex o, std::size_t bytes, MayWait may_wait);

    // The owner's lock is held. Collects what has come by message and by remote bits.
    void drain(OwnerIndex o);
    // Drains an owner whose lock the caller does not hold, as long as something waits and the lock is free.
    void settle(OwnerIndex o);
    // Rule 3: after every unlock.
    void unlock_and_settle(OwnerIndex o) {
        if (world_.owners.unlock(o)) [[unlikely]]
            settle(o);
    }
    // Called after the last of many unlocks: a thread that pushed and found a lock taken relies on the lock's holder.
    [[gnu::cold]] void settle_all();

  private:
    // The protocol's world: a node is a superblock, and an owner is named by its index.
    struct World {
        using Node = Superblock *;
        using Owner = OwnerIndex;

        OwnerIndex owner_of(const Superblock *s) const { return gr::owner_of(s); }
        std::uint32_t exchange_mark(Superblock *s, std::uint32_t mark) const;
        void push(OwnerIndex o, Superblock *s) const;
        Superblock *take_all(OwnerIndex o) const;
        Superblock *next(const Superblock *s) const;
        bool is_null(const Superblock *s) const { return s == nullptr; }
        bool has_pending(OwnerIndex o) const;
        bool is_passive(OwnerIndex o) const { return !is_heap(o); }
        bool try_lock(OwnerIndex o) const;
        void unlock(OwnerIndex o) const;
        void read_inbox(OwnerIndex o) const;
        void collect(OwnerIndex o, Superblock *s) const;

        Owners &owners;
        Ownership &ownership;
        Messenger &messenger;
    };

    void announce(Superblock *s);

    Superblocks &superblocks_;
    const AddressSaving &address_saving_;
    World world_;
};

}  // namespace gr
