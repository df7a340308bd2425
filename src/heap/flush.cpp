// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the freeing half of the slow path: which way a block goes, and flushing the magazines of own blocks to bitmaps.
// Invariant: a block leaves a magazine and reaches a bitmap under one hold of the heap's lock; every block is checked
//            on that way: foreign, interior and doubled ones end the program.
// Must not know: requests in bytes.
#include "heap/heaps.hpp"
#include "heap/misuse.hpp"
#include "heap/offline_giver.hpp"

namespace gr {

BlockRef Heaps::find_or_die(const char *function, const void *p) const {
    const BlockRef ref = superblocks_.find(p);
    if (ref.fault == BlockFault::none && ref.superblock->use == UnitUse::superblock) return ref;
    if (ref.fault == BlockFault::interior) {
        die_interior(function, p, superblocks_.address(ref.superblock, ref.index),
                     superblocks_.block_size(ref.superblock));
    }
    die_foreign(function, p);
}

void Heaps::free(const char *function, void *p, UnitEntry e) {
    const Inside inside;
    Freed how = Freed::not_yet;
    if (!inside.again()) how = setup_.sequences ? free_by_sequence(function, p, e) : free_by_owner(function, p, e);
    if (how == Freed::quickly) return;
    if (how == Freed::not_yet) free_to_remote_bits(function, p, inside.again());
    if (inside.again()) return;
    sweep_if_due();
    make_huge_pages();
}

Heaps::Freed Heaps::free_by_sequence(const char *function, void *p, UnitEntry e) {
    const OwnerIndex owner = owner_in(e);
    const ClassIndex c = class_in(e);
    for (unsigned attempt = 0; attempt < kSequenceRetries; ++attempt) {
        const std::int32_t cid = platform::current_cid(platform::gr_sequence_state);
        if (cid < 0 || static_cast<std::uint32_t>(cid) >= setup_.heaps) return Freed::not_yet;
        const OwnerIndex here = owner_of_heap(static_cast<std::uint32_t>(cid));
        const bool local = owner == here;
        if (!local && (shape_of(c).size > kRemoteMagazineLimit || thrift_.is_on())) return Freed::not_yet;
        const std::uint32_t magazine = local ? magazine_of(c) : kRemoteMagazine;
        // A magazine that holds p at any moment of this call means that p is free already; but whoever moved to another
        // CPU meanwhile may have seen half of what somebody wrote there.
        if (slab(here).is_top(magazine, p) && platform::current_cid(platform::gr_sequence_state) == cid)
            die_twice(function, p, shape_of(c).size);
        const std::int64_t pushed = platform::gr_sequence_push_n(here.value, magazine, &p, 1);
        if (pushed == 1) return attempt == 0 ? Freed::quickly : Freed::slowly;
        if (pushed != 0) continue;
        const Flush flushed = local ? flush(here, c, p) : flush_remote(here);
        if (flushed == Flush::freed) return Freed::slowly;
        if (flushed == Flush::refused) return Freed::not_yet;
    }
    return Freed::not_yet;
}

// Without sequences: straight into the owner's magazine, if its lock is free.
Heaps::Freed Heaps::free_by_owner(const char *function, void *p, UnitEntry e) {
    const OwnerIndex o = owner_in(e);
    const ClassIndex c = class_in(e);
    if (!is_heap(o) || !try_lock(o)) return Freed::not_yet;
    if (slab(o).is_top(magazine_of(c), p)) die_twice(function, p, shape_of(c).size);
    const bool quickly = slab(o).push(magazine_of(c), p);
    if (!quickly && flush_locked(o, c, p) == Flush::room) slab(o).push(magazine_of(c), p);
    unlock_and_settle(o);
    return quickly ? Freed::quickly : Freed::slowly;
}

Heaps::Flush Heaps::flush(OwnerIndex o, ClassIndex c, void *p) {
    if (!lock(o)) return Flush::refused;
    const Flush result = flush_locked(o, c, p);
    unlock_and_settle(o);
    return result;
}

// Makes room for p: by a larger capacity if the budget allows, else by giving back what was freed last, half of it at
// most, and p itself where the magazine has no slot at all.
Heaps::Flush Heaps::flush_locked(OwnerIndex o, ClassIndex c, void *p) {
    platform::count(platform::Event::flush);
    heap(o).note_use();
    if (grow(o, c)) return Flush::room;
    void *blocks[kBatchBlocks];
    const std::int64_t popped =
        slab(o).pop_n(magazine_of(c), blocks, batch_of((heap(o).magazines.capacity(c) + 1) / 2));
    if (popped < 0) return Flush::moved;
    if (popped == 0) blocks[0] = p;
    give_back(o, blocks, popped == 0 ? 1 : static_cast<std::uint32_t>(popped));
    return popped == 0 ? Flush::freed : Flush::room;
}

// The heap's lock is held. Blocks whose superblock has moved on in the meantime go to its owner.
void Heaps::give_back(OwnerIndex o, void *const *blocks, std::uint32_t count, MayWait may_wait) {
    OfflineGiver offline(*this, may_wait);
    for (std::uint32_t done = 0; done < count;) {
        const void *const p = blocks[done];
        const BlockRef ref = find_or_die(setup_.free, p);
        Superblock *const s = ref.superblock;
        // Rule 1: stable while the lock is held, if it is this heap.
        if (owner_of(s) == o) {
            const std::uint32_t given = superblocks_.give(s, blocks + done, count - done);
            if (given == 0) die_twice(setup_.free, p, s->shape().size);
            offline.let_go();  // the superblock may have to go there itself
            gave(o, s, given);
            done += given;
            continue;
        }
        if (const std::uint32_t given = offline.give(ref, blocks + done, count - done); given != 0) {
            done += given;
            continue;
        }
        offline.let_go();  // no other owner is settled under a global bin's lock
        const BitPosition at = BitPosition::of(ref.index);
        set_remote(s, at.word, at.mask, may_wait);
        ++done;
    }
}

// The heap's lock is held. All blocks of the magazine but `keep`.
void Heaps::flush_excess(OwnerIndex o, ClassIndex c, std::uint32_t keep) {
    void *blocks[kBatchBlocks];
    for (;;) {
        const platform::MagazineHeader header = slab(o).header(magazine_of(c));
        const auto held = static_cast<std::uint32_t>(header.current - header.begin);
        if (held <= keep) return;
        const std::int64_t popped = slab(o).pop_n(magazine_of(c), blocks, batch_of(held - keep));
        if (popped <= 0) return;
        give_back(o, blocks, static_cast<std::uint32_t>(popped));
    }
}

// The heap's lock is held; as far as its magazines may be touched. They come last, for a letter may fill them: one to this
// heap itself, too.
void Heaps::flush_all_locked(OwnerIndex o) {
    flush_remote_locked(o, false);
    drain(o);
    for (std::uint32_t c = 1; c < kClassCount; ++c) flush_excess(o, ClassIndex(c), 0);
}

void Heaps::count_cached(std::uint64_t (&blocks)[kClassCount]) const {
    for (std::uint32_t i = 0; i < active_heaps(); ++i) {
        const Slab s = slab(owner_of_heap(i));
        for (std::uint32_t c = 1; c < kClassCount; ++c) {
            const platform::MagazineHeader header = s.header(magazine_of(ClassIndex(c)));
            blocks[c] += static_cast<std::uint64_t>(header.current - header.begin);
        }
        const auto count = [&](const void *p) {
            if (region_.contains(p)) ++blocks[class_in(load_entry(region_, region_.unit_of(p))).value];
        };
        const platform::MagazineHeader remote = s.header(kRemoteMagazine);
        for (std::uint32_t slot = remote.begin; slot < remote.current; ++slot) count(s.peek(kRemoteMagazine, slot));
        outbox(owner_of_heap(i)).for_each_block(count);
    }
}

}  // namespace gr
