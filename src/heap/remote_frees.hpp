// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: blocks freed in their superblock's remote bits, and that their owner comes for them, and for its messages
//    (docs/design/remote-protocol.md).
// Invariant: whoever unlocks an owner looks afterwards whether something waits for it (rule 3), so bits and messages are
//    never forgotten.
// Must not know: what becomes of what a drain finds; drain.cpp alone does.
#pragma once

#include "heap/address_saving.hpp"
#include "heap/owners.hpp"
#include "superblock/superblocks.hpp"

namespace gr {

class Ownership;
class Messenger;

// A drain hands blocks to ownership and messenger, and these give, lock others, unlock and settle in turn. This circle of
// calls is closed by two references and in drain.cpp, and nowhere else.
class RemoteFrees {
  public:
    class Batch;

    constexpr RemoteFrees(Owners &owners, Superblocks &superblocks, Ownership &ownership, Messenger &messenger,
                          const AddressSaving &address_saving)
        : superblocks_(superblocks), address_saving_(address_saving), world_{owners, ownership, messenger} {}

    // Bits of one word, and that their owner will know.
    void set(Superblock *s, std::uint32_t word, Word mask, MayWait may_wait);
    // Rule 6: an idle owner still collects. So many bytes are on the way to it; beyond a threshold, or while addresses are
    // saved, they are drained now. Not inside another's drain, lest that become as deep as there are heaps.
    void note(OwnerIndex o, std::size_t bytes, MayWait may_wait);

    // The owner's lock is held: what has come by message and by bits.
    void drain(OwnerIndex o);
    // The same for whoever does not hold it, as long as something waits and the lock is free.
    void settle(OwnerIndex o);
    // Rule 3: after every unlock.
    void unlock_and_settle(OwnerIndex o) {
        if (world_.owners.unlock(o)) [[unlikely]]
            settle(o);
    }
    // After the last of many: who posted and found a lock taken relies on its holder.
    [[gnu::cold]] void settle_all();

  private:
    // What the protocol sees; a node is a superblock, an owner is named by its index.
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
