// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which owner has which superblock: Hoard's emptiness invariant, and each way from one owner to the next.
// Invariant: the owner field changes only under the previous owner's lock (rule 1). A superblock is in its new owner's
//    bin before the new owner's lock is released.
// Must not know: magazines, messages.
#pragma once

#include "heap/global_free.hpp"
#include "heap/remote_frees.hpp"
#include "heap/unit_store.hpp"

namespace gr {

// What a heap does with the global heap's superblocks that it did not give itself: takes one, or leaves them if they are
// few. Their blocks in use probably belong to threads on other CPUs: such a CPU would take cache lines away from this
// one, and each of its frees would be a remote free.
enum class Foreign : bool { leave_few, take };

class Ownership {
  public:
    constexpr Ownership(Owners &owners, RemoteFrees &remote, UnitStore &store, GlobalFree &global_free,
                        Superblocks &superblocks)
        : owners_(owners), remote_(remote), store_(store), global_free_(global_free), superblocks_(superblocks) {}

    // In the following functions the locks of o, of `to` and of `from` are held.

    // Blocks of s became free. Moves s to where it belongs now; s may be released afterwards.
    void gave(OwnerIndex o, Superblock *s, std::uint32_t blocks);
    // Like gave, but s stays with its owner, even if s is empty.
    void freed(OwnerIndex o, Superblock *s, std::uint32_t blocks);
    // Blocks of s count as in use now, although the program did not ask for them.
    void took(OwnerIndex o, Superblock *s, std::uint32_t blocks);
    // Frees the blocks of the remote bits of s.
    void collect(OwnerIndex o, Superblock *s);
    void release_empty(OwnerIndex o);
    // nullptr: there is no superblock, or no memory; or `foreign` says to leave what there is.
    Superblock *take_from_global(OwnerIndex to, ClassIndex c, Foreign foreign);
    Superblock *take_from(OwnerIndex from, OwnerIndex to, ClassIndex c);
    Superblock *take_new(OwnerIndex to, ClassIndex c, Prefer prefer);
    // Called before memory of the class grows. Restores the invariant of other heaps where taken locks had prevented
    // that, as far as their locks are free now. Then takes a superblock from the global heap, as take_from_global does.
    Superblock *collect_excess(OwnerIndex to, ClassIndex c, Foreign foreign);

    // No lock is held. Restores the invariant of all heaps, where taken locks had prevented that.
    [[gnu::cold]] void restore_invariants();
    // No lock is held. Releases every empty superblock, including the global heap's.
    [[gnu::cold]] void release_all_empty();
    // No lock is held. Calls visit(owner, superblock) under the owner's lock, if a superblock begins at u. All units of
    // a superblock have an entry from its first owner on. The entry and the descriptor may be stale while units change
    // hands. But an entry that names an owner changes only under that owner's lock.
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

    // No lock is held. Calls visit(owner) under the lock of the owner of s. s must have blocks in use, so that it has
    // an owner.
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
    void release(OwnerIndex o, Superblock *s);
    Superblock *recently_given(OwnerIndex by, ClassIndex c) const;
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
