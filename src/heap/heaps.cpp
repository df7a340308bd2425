// SPDX-License-Identifier: Apache-2.0 OR MIT
// A signal handler that interrupted the heaps waits for nothing here, and does none of the work that is due.

#include "heap/heaps.hpp"

#include "heap/misuse.hpp"
#include "platform/reentry.hpp"

namespace gr {

void *Heaps::refill_here(ClassIndex c) {
    if (const std::int32_t cid = platform::current_cid(platform::gr_sequence_state);
        cid >= 0 && static_cast<std::uint32_t>(cid) < owners_.setup().heaps) {
        const OwnerIndex o = owner_of_heap(static_cast<std::uint32_t>(cid));
        const platform::Reentry entry;
        if (entry.again()) return nullptr;
        if (owners_.lock(o)) {
            void *const block = refiller_.refill(o, c);
            remote_.unlock_and_settle(o);
            dense_chunks_.make_huge_pages();
            return block;
        }
    }
    // The thread has no concurrency id, or its heap's slab gets no memory. Another heap may have a free block.
    return allocate_by_stripe(c);
}

// The stripe that a thread without a concurrency id tries first. Threads are numbered in turn, so they spread over the
// stripes of every instance.
OwnerIndex Heaps::home_stripe() const {
    return owner_of_heap((platform::thread_number() - 1) % owners_.setup().stripes);
}

CpuGroup Heaps::cpu_group() const {
    const std::int32_t cid = uses_sequences() ? platform::current_cid(platform::gr_sequence_state) : -1;
    return cpu_group_of(cid >= 0 ? owner_of_heap(static_cast<std::uint32_t>(cid)) : home_stripe());
}

// Allocates under the lock of a stripe: the thread's own if it is free, otherwise the next free one. If no lock is
// free, the thread waits for its own stripe's lock.
void *Heaps::allocate_by_stripe(ClassIndex c) {
    const platform::Reentry entry;
    OwnerIndex o = home_stripe();
    if (!owners_.try_lock(o)) [[unlikely]] {
        o = lock_other_stripe(o, !entry.again());
        if (o == kNobody) return nullptr;
    }
    void *block = uses_sequences() ? nullptr : owners_.slab(o).pop(magazine_of(c));
    const bool slow = block == nullptr && !entry.again();
    if (slow) [[unlikely]] {
        // With sequences, another thread may be using that magazine: leave it alone.
        block = uses_sequences() ? refiller_.take_one(o, c) : refiller_.refill(o, c);
    }
    remote_.unlock_and_settle(o);
    if (slow) [[unlikely]]
        dense_chunks_.make_huge_pages();
    return block;
}

// kNobody: no lock was free and the caller may not wait, or no heap has a slab.
OwnerIndex Heaps::lock_other_stripe(OwnerIndex home, bool may_wait) {
    const std::uint32_t stripes = owners_.setup().stripes;
    for (std::uint32_t i = 1; i < stripes; ++i) {
        const OwnerIndex o = owner_of_heap((home.value + i) % stripes);
        if (owners_.try_lock(o)) return o;
    }
    if (!may_wait) return kNobody;
    if (owners_.lock(home)) return home;
    // There is no memory for the slab of the home stripe. An active heap has a slab already.
    const std::uint32_t active = active_heaps();
    if (active == 0) return kNobody;
    const OwnerIndex other = owner_of_heap(home.value % active);
    return owners_.lock(other) ? other : kNobody;
}

void Heaps::free(const char *function, void *p, UnitEntry e) {
    if (reinterpret_cast<std::uintptr_t>(p) % kFineStep != 0) [[unlikely]]
        returns_.find_or_die(function, p);
    const platform::Reentry entry;
    Freed how = Freed::not_yet;
    if (!entry.again()) how = uses_sequences() ? free_by_sequence(function, p, e) : free_by_owner(function, p, e);
    if (how == Freed::quickly) return;
    if (how == Freed::not_yet) returns_.give_one(function, p, entry.again());
    if (entry.again()) return;
    sweeper_.sweep_if_due();
    dense_chunks_.make_huge_pages();
}

Heaps::Freed Heaps::free_by_sequence(const char *function, void *p, UnitEntry e) {
    const OwnerIndex owner = owner_in(e);
    const ClassIndex c = class_in(e);
    char *const *const found_at = owners_.setup().found_at;
    for (unsigned attempt = 0; attempt < kSequenceRetries; ++attempt) {
        const std::int32_t cid = platform::current_cid(platform::gr_sequence_state);
        if (cid < 0 || static_cast<std::uint32_t>(cid) >= owners_.setup().heaps) return Freed::not_yet;
        const OwnerIndex here = owner_of_heap(static_cast<std::uint32_t>(cid));
        const bool local = owner == here;
        if (!local && address_saving_.is_on()) return Freed::not_yet;
        const std::uint32_t magazine = local ? magazine_of(c) : kRemoteMagazine;
        // If a magazine holds p at any moment of this call, p is free already. But a thread that moved to another CPU
        // meanwhile may have seen half of a change that another thread made there.
        if (owners_.slab(here).is_top(magazine, p) && platform::current_cid(platform::gr_sequence_state) == cid)
            die_twice(function, p, shape_of(c).size);
        const std::int64_t pushed = platform::gr_sequence_push_n(here.value, magazine, &p, 1, found_at);
        if (pushed == 1) return attempt == 0 ? Freed::quickly : Freed::slowly;
        if (pushed != 0) continue;
        const Flusher::Result flushed = local ? flusher_.flush(here, c, p) : flusher_.flush_remote(here);
        if (flushed == Flusher::Result::freed) return Freed::slowly;
        if (flushed == Flusher::Result::refused) return Freed::not_yet;
    }
    return Freed::not_yet;
}

// Without sequences: pushes the block into its owner's magazine, if the owner's lock is free.
Heaps::Freed Heaps::free_by_owner(const char *function, void *p, UnitEntry e) {
    const OwnerIndex o = owner_in(e);
    const ClassIndex c = class_in(e);
    if (!is_heap(o) || !owners_.try_lock(o)) return Freed::not_yet;
    Slab slab = owners_.slab(o);
    if (slab.is_top(magazine_of(c), p)) die_twice(function, p, shape_of(c).size);
    const bool quickly = slab.push(magazine_of(c), p);
    if (!quickly && flusher_.flush_locked(o, c, p) == Flusher::Result::room) slab.push(magazine_of(c), p);
    remote_.unlock_and_settle(o);
    return quickly ? Freed::quickly : Freed::slowly;
}

void Heaps::lock_all(platform::Rank rank) {
    if (rank == platform::Rank::sweep) return sweeper_.mutex().lock_always(rank);
    owners_.lock_all(rank);
}

void Heaps::unlock_all(platform::Rank rank) {
    if (rank == platform::Rank::sweep) return sweeper_.mutex().unlock(rank);
    owners_.unlock_all(rank);
}

}  // namespace gr
