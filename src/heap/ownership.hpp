// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which superblock belongs to whom: Hoard's emptiness invariant, and each way from one owner to the next.
// Invariant: the owner field changes only under the giver's lock (rule 1), and a superblock is in its new owner's bin
//    before that owner's lock is let go.
// Must not know: magazines, messages.
#pragma once

#include "heap/global_free.hpp"
#include "heap/remote_frees.hpp"
#include "heap/unit_store.hpp"

namespace gr {

class Ownership {
  public:
    constexpr Ownership(Owners &owners, RemoteFrees &remote, UnitStore &store, GlobalFree &global_free,
                        Superblocks &superblocks)
        : owners_(owners), remote_(remote), store_(store), global_free_(global_free), superblocks_(superblocks) {}

    // In these the lock of o, of `to` and of `from` is held.

    // Blocks of s became free: puts it where it belongs now. s may be gone afterwards.
    void gave(OwnerIndex o, Superblock *s, std::uint32_t blocks);
    // The same, but it stays where it is, even if it is empty.
    void freed(OwnerIndex o, Superblock *s, std::uint32_t blocks);
    // They are in use, although nobody asked for them.
    void took(OwnerIndex o, Superblock *s, std::uint32_t blocks);
    // Its remote bits became free.
    void collect(OwnerIndex o, Superblock *s);
    void release_empty(OwnerIndex o);
    // nullptr: there is none, or no memory.
    Superblock *take_from_global(OwnerIndex to, ClassIndex c);
    Superblock *take_from(OwnerIndex from, OwnerIndex to, ClassIndex c);
    Superblock *take_new(OwnerIndex to, ClassIndex c, Prefer prefer);
    // Memory of a class grows only after what held locks left undone in its heaps was done, as far as their locks are
    // free now. What that brought to the global heap.
    Superblock *collect_excess(OwnerIndex to, ClassIndex c);

    // No lock is held. What contended locks left undone, in all heaps.
    [[gnu::cold]] void restore_invariants();
    // The same. Superblocks that are empty where freed() left them, the global heap's among them.
    [[gnu::cold]] void release_all_empty();
    // No lock is held. Calls visit(owner, superblock) under the owner's lock, if a superblock begins there. It has an entry
    // from the moment on when its first owner has it, and so have the units inside it. What the entry says may be stale,
    // and so may the descriptor of units that are changing hands: but entries that name an owner change under its lock
    // only.
    template <class Visit>
    void visit_superblock(UnitIndex u, Visit visit) {
        const UnitEntry e = store_.entry(u);
        if (e == 0 || e == kRunEntry) return;
        const OwnerIndex o = owner_in(e);
        Superblock *const s = superblocks_.descriptor(u);
        if (!owners_.lock(o)) return;
        if (store_.entry(u) == e && owner_of(s) == o && s->use == UnitUse::superblock) visit(o, s);
        remote_.unlock_and_settle(o);
    }

    // No lock is held. Calls visit(owner) under the lock of whoever owns s, which has blocks in use.
    template <class Visit>
    void visit_owner(Superblock *s, Visit visit) {
        for (;;) {
            const OwnerIndex o = owner_of(s);
            const bool locked = owners_.lock(o);
            GR_CHECK(locked);
            const bool still = owner_of(s) == o;
            if (still) visit(o);
            remote_.unlock_and_settle(o);
            if (still) return;
        }
    }

  private:
    void restore_invariant(OwnerIndex o, ClassIndex c, MayWait may_wait);
    void release(Bin &bin, Superblock *s);
    template <class Visit>
    void for_each_empty(Bin &bin, Visit visit);
    bool give_to_global(OwnerIndex from, Superblock *s, MayWait may_wait);

    Owners &owners_;
    RemoteFrees &remote_;
    UnitStore &store_;
    GlobalFree &global_free_;
    Superblocks &superblocks_;
};

}  // namespace gr
