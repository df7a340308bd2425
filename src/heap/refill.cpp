// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the allocating half of the slow path: refill a magazine from bins, the global heap, or new superblocks.
// Invariant: the heap's lock is held from the first bit cleared to the last block in a magazine.
// Must not know: requests in bytes.
#include "heap/heaps.hpp"
#include "platform/memory.hpp"

namespace gr {

void *Heaps::allocate_by_sequence(ClassIndex c, bool *fresh) {
    if (void *const block = platform::gr_sequence_pop(magazine_of(c))) return block;
    if (const std::int32_t cid = platform::current_cid(platform::gr_sequence_state);
        cid >= 0 && static_cast<std::uint32_t>(cid) < setup_.heaps) {
        const OwnerIndex o = owner_of_heap(static_cast<std::uint32_t>(cid));
        const Inside inside;
        if (inside.again()) return nullptr;
        if (lock(o)) {
            void *const block = refill(o, c, fresh);
            unlock_and_settle(o);
            make_huge_pages();
            return block;
        }
    }
    // No id, or no memory for the slab of its heap: some other heap may have what is wanted.
    return allocate_by_stripe(c, fresh);
}

// Where a thread without a concurrency id begins to look: threads are numbered in turn, so that they spread over the
// stripes of every instance.
OwnerIndex Heaps::home_stripe() const { return owner_of_heap((platform::thread_number() - 1) % setup_.stripes); }

// Under the lock of some stripe's heap: the caller's own if it is free, else the next free one, else the caller waits.
void *Heaps::allocate_by_stripe(ClassIndex c, bool *fresh) {
    const Inside inside;
    OwnerIndex o = home_stripe();
    if (!try_lock(o)) [[unlikely]] {
        o = lock_other_stripe(o, !inside.again());
        if (o == kNobody) return nullptr;
    }
    void *block = setup_.sequences ? nullptr : slab(o).pop(magazine_of(c));
    const bool slow = block == nullptr && !inside.again();
    if (slow) [[unlikely]] {
        // With sequences some other thread may be inside that magazine: leave it alone.
        if (!setup_.sequences) {
            block = refill(o, c, fresh);
        } else if (take_blocks(o, c, &block, 1, fresh) == 0) {
            block = nullptr;
        }
    }
    unlock_and_settle(o);
    if (slow) [[unlikely]]
        make_huge_pages();
    return block;
}

// kNobody: none was free, and the caller may not wait.
OwnerIndex Heaps::lock_other_stripe(OwnerIndex home, bool may_wait) {
    for (std::uint32_t i = 1; i < setup_.stripes; ++i) {
        const OwnerIndex o = owner_of_heap((home.value + i) % setup_.stripes);
        if (try_lock(o)) return o;
    }
    if (!may_wait) return kNobody;
    if (lock(home)) return home;
    // There is no memory for the slab of that one. Another has its own.
    const std::uint32_t active = active_heaps();
    if (active == 0) return kNobody;
    const OwnerIndex other = owner_of_heap(home.value % active);
    return lock(other) ? other : kNobody;
}

// The heap's lock is held. The first block is the result, the others fill the magazine.
void *Heaps::refill(OwnerIndex o, ClassIndex c, bool *fresh) {
    platform::count(platform::Event::refill);
    heap(o).note_use();
    void *blocks[1 + kBatchBlocks];
    if (owner(o).has_news()) {
        drain(o);
        if (slab(o).pop_n(magazine_of(c), blocks, 1) == 1) {
            heap(o).magazines.note_use(c);
            return blocks[0];
        }
    }
    grow(o, c);
    const std::uint32_t count = take_blocks(o, c, blocks, 1 + batch_of(heap(o).magazines.capacity(c) / 2), fresh);
    if (count == 0) return nullptr;
    const std::int64_t pushed = count == 1 ? 0 : slab(o).push_n(magazine_of(c), blocks + 1, count - 1);
    const std::uint32_t kept = 1 + (pushed < 0 ? 0 : static_cast<std::uint32_t>(pushed));
    // Moved to another CPU meanwhile, or somebody filled the magazine.
    if (kept != count) give_back(o, blocks + kept, count - kept);
    return blocks[0];
}

std::uint32_t Heaps::take_blocks(OwnerIndex o, ClassIndex c, void **blocks, std::uint32_t count, bool *fresh) {
    Bin &bin = heap(o).bins[c.value];
    std::uint32_t taken = 0;
    while (taken < count) {
        Superblock *s = bin.fullest();
        // A refill opens one more superblock at most, and only for its first block.
        if (s == nullptr) s = taken == 0 ? superblock_for(o, c) : nullptr;
        if (s == nullptr) return taken;
        const std::uint32_t fresh_from = s->fresh_from;
        const unsigned absent = s->absent.count();
        const std::uint32_t got = superblocks_.take(s, blocks + taken, count - taken);
        if (absent != 0) {
            const std::size_t retaken = (absent - s->absent.count()) * platform::page_size();
            pages_.became_present(retaken);
            pages_.allowance().retook(retaken);
        }
        if (taken == 0 && fresh != nullptr) {
            *fresh = s->zeroed && superblocks_.find(blocks[0]).index.value >= fresh_from;
        }
        bin.took(s, got);
        taken += got;
    }
    return taken;
}

Superblock *Heaps::superblock_for(OwnerIndex o, ClassIndex c) {
    if (Superblock *const s = take_from_global(o, c)) return s;
    if (Superblock *const s = collect_arrears(o, c)) return s;
    if (Superblock *const s = new_superblock(o, c)) return s;
    // Memory is used up: what this heap's magazines hold back, then what other heaps have free.
    flush_all_locked(o);
    if (Superblock *const s = heap(o).bins[c.value].fullest()) return s;
    if (Superblock *const s = take_from_global(o, c)) return s;
    if (Superblock *const s = take_from_others(o, c)) return s;
    return new_superblock(o, c);
}

Superblock *Heaps::new_superblock(OwnerIndex o, ClassIndex c) {
    // The first one of a class of small blocks often stays the only one, with a page or two in use.
    const bool may_stay_empty = heap(o).bins[c.value].superblocks() == 0 && shape_of(c).size <= kFineLimit;
    Superblock *const s = store_.acquire_superblock(c, may_stay_empty ? Prefer::cold : Prefer::warm);
    if (s == nullptr) return nullptr;
    if (!lock(kNobody)) {
        store_.release(s);
        return nullptr;
    }
    hand_over(s, o);
    heap(o).bins[c.value].adopt(s);
    unlock_and_settle(kNobody);
    return s;
}

// Widens the magazine of a class that ran empty or full, within the budget. true: it is wider now.
bool Heaps::grow(OwnerIndex o, ClassIndex c) {
    MagazinePolicy &policy = heap(o).magazines;
    policy.note_use(c);
    if (thrift_.lasts(pages_.present_bytes(), pages_.used_bytes())) [[unlikely]]
        return false;
    const std::uint32_t now = policy.capacity(c);
    std::uint32_t wanted = policy.wanted(c, setup_.magazine_budget);
    if (wanted == now && now < shape_of(c).magazine_slots) {
        shrink_quiet(o, c);
        wanted = policy.wanted(c, setup_.magazine_budget);
        if (wanted == now) policy.note_denied();
    }
    return wanted != now && set_capacity(o, c, wanted);
}

// The blocks of a magazine that changes its slots come along. false: it stays as it was.
bool Heaps::set_capacity(OwnerIndex o, ClassIndex c, std::uint32_t capacity) {
    MagazinePolicy &policy = heap(o).magazines;
    const ClassShape &shape = shape_of(c);
    const std::uint32_t begin = shape.slots_begin(capacity);
    void *moved[kMagazineNarrowSlots];
    std::int64_t count = 0;
    if (begin != shape.slots_begin(policy.capacity(c))) {
        flush_excess(o, c, kMagazineNarrowSlots);
        count = slab(o).pop_n(magazine_of(c), moved, kMagazineNarrowSlots);
    }
    const bool done = count >= 0 && slab(o).set_capacity(magazine_of(c), begin, capacity);
    if (done) policy.set_capacity(c, capacity);
    if (count > 0) {
        const std::int64_t pushed = slab(o).push_n(magazine_of(c), moved, static_cast<std::uint32_t>(count));
        const std::int64_t kept = pushed < 0 ? 0 : pushed;
        give_back(o, moved + kept, static_cast<std::uint32_t>(count - kept));
    }
    return done;
}

// Halves the share of a class that has gone quiet.
void Heaps::shrink_quiet(OwnerIndex o, ClassIndex but) {
    MagazinePolicy &policy = heap(o).magazines;
    const ClassIndex c = policy.next_quiet(but);
    if (c.value == 0) return;
    const std::uint32_t capacity = policy.capacity(c) / 2;
    if (set_capacity(o, c, capacity)) flush_excess(o, c, capacity);
}

}  // namespace gr
