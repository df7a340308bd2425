// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the freeing half of the slow path: flush magazines to bitmaps, own blocks under the lock, foreign ones by
//       remote bits.
// Invariant: a block leaves a magazine and reaches a bitmap under one hold of the heap's lock; every block is checked
//            on that way: foreign, interior and doubled ones end the program.
// Must not know: requests in bytes.
#include "heap/heaps.hpp"
#include "heap/misuse.hpp"

namespace gr {

// Groups remote frees by superblock and word, so that each word costs one atomic operation.
class Heaps::RemoteBatch {
  public:
    explicit RemoteBatch(Heaps &heaps) : heaps_(heaps) {}
    RemoteBatch(const RemoteBatch &) = delete;
    RemoteBatch &operator=(const RemoteBatch &) = delete;
    ~RemoteBatch() {
        for (Entry &entry : entries_) send(entry);
    }

    void add(Superblock *s, BlockIndex i, const void *p) {
        const BitPosition at = BitPosition::of(i);
        Entry &entry = entries_[(s->unit.value * 7 + at.word) % kEntries];
        if (entry.superblock != s || entry.word != at.word) {
            send(entry);
            entry = {s, at.word, 0};
        }
        if ((entry.mask & at.mask) != 0) die_twice("free", p, s->shape().size);
        entry.mask |= at.mask;
    }

  private:
    static constexpr unsigned kEntries = 32;
    struct Entry {
        Superblock *superblock = nullptr;
        std::uint32_t word = 0;
        Word mask = 0;
    };

    void send(const Entry &entry) {
        if (entry.superblock != nullptr) heaps_.set_remote(entry.superblock, entry.word, entry.mask);
    }

    Heaps &heaps_;
    Entry entries_[kEntries];
};

// Gives blocks to superblocks of the global heap, whose bins' locks are taken for that (design): one at a time, kept
// while the class stays the same. At most the own heap's lock is held by the caller.
class Heaps::OfflineGiver {
  public:
    explicit OfflineGiver(Heaps &heaps) : heaps_(heaps) {}
    OfflineGiver(const OfflineGiver &) = delete;
    OfflineGiver &operator=(const OfflineGiver &) = delete;
    ~OfflineGiver() { let_go(); }

    // false: the superblock is a heap's.
    bool give(const BlockRef &ref, const void *p) {
        const OwnerIndex o = owner_of(ref.superblock);
        if (is_heap(o) || o == kNobody) return false;
        if (o != held_) {
            let_go();
            if (!heaps_.lock(o)) return false;
            held_ = o;
        }
        if (owner_of(ref.superblock) != o) return false;
        if (!heaps_.superblocks_.give(ref.superblock, ref.index)) die_twice("free", p, ref.superblock->shape().size);
        heaps_.gave(o, ref.superblock, 1);
        return true;
    }

    void let_go() {
        if (held_ != kNobody) heaps_.unlock_and_settle(held_);
        held_ = kNobody;
    }

  private:
    Heaps &heaps_;
    OwnerIndex held_ = kNobody;
};

void Heaps::set_remote(Superblock *s, std::uint32_t word, Word mask) {
    const std::int64_t bytes = std::int64_t{std::popcount(mask)} * s->shape().size;
    const std::size_t size = s->shape().size;
    if (!superblocks_.set_remote(s, word, mask)) {
        const auto first = static_cast<std::uint32_t>(std::countr_zero(mask));
        die_twice("free", superblocks_.address(s, BlockIndex(word * kWordBits + first)), size);
    }
    announce(s);
    // Rule 6: an idle owner still collects.
    const OwnerIndex o = owner_of(s);
    if (!is_heap(o)) return;
    const std::int64_t waiting = owner(o).remote_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (waiting > static_cast<std::int64_t>(kRemoteThreshold)) settle(o);
}

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
    const bool done =
        !inside.again() && (setup_.sequences ? free_by_sequence(function, p, e) : free_by_owner(function, p, e));
    if (!done) free_to_remote_bits(function, p, inside.again());
}

// false: not done; the bits are the way that always works.
bool Heaps::free_by_sequence(const char *function, void *p, UnitEntry e) {
    const OwnerIndex owner = owner_in(e);
    const ClassIndex c = class_in(e);
    for (unsigned attempt = 0; attempt < kSequenceRetries; ++attempt) {
        const std::int32_t cid = platform::current_cid(platform::gr_sequence_state);
        if (cid < 0 || static_cast<std::uint32_t>(cid) >= setup_.heaps) return false;
        const OwnerIndex here = owner_of_heap(static_cast<std::uint32_t>(cid));
        const bool local = owner == here;
        if (!local && shape_of(c).size > kRemoteMagazineLimit) return false;
        const std::uint32_t magazine = local ? magazine_of(c) : kRemoteMagazine;
        // A magazine that holds p at any moment of this call means that p is free already, whoever's magazine it is
        // now.
        if (slab(here).is_top(magazine, p)) die_twice(function, p, shape_of(c).size);
        const std::int64_t pushed = platform::gr_sequence_push_n(here.value, magazine, &p, 1);
        if (pushed == 1) return true;
        if (pushed != 0) continue;
        const Flush flushed = local ? flush(here, c, p) : flush_remote(here);
        if (flushed == Flush::freed || flushed == Flush::refused) return flushed == Flush::freed;
    }
    return false;
}

// Without sequences: straight into the owner's magazine, if its lock is free.
bool Heaps::free_by_owner(const char *function, void *p, UnitEntry e) {
    const OwnerIndex o = owner_in(e);
    const ClassIndex c = class_in(e);
    if (!is_heap(o) || !try_lock(o)) return false;
    if (slab(o).is_top(magazine_of(c), p)) die_twice(function, p, shape_of(c).size);
    if (!slab(o).push(magazine_of(c), p) && flush_locked(o, c, p) == Flush::room) slab(o).push(magazine_of(c), p);
    unlock_and_settle(o);
    return true;
}

void Heaps::free_to_remote_bits(const char *function, void *p, bool in_handler) {
    const BlockRef ref = find_or_die(function, p);
    if (superblocks_.is_free(ref.superblock, ref.index)) die_twice(function, p, ref.superblock->shape().size);
    if (!in_handler && OfflineGiver(*this).give(ref, p)) return;
    const BitPosition at = BitPosition::of(ref.index);
    set_remote(ref.superblock, at.word, at.mask);
}

Heaps::Flush Heaps::flush(OwnerIndex o, ClassIndex c, void *p) {
    if (!lock(o)) return Flush::refused;
    const Flush result = flush_locked(o, c, p);
    unlock_and_settle(o);
    return result;
}

// Makes room for p: by a larger capacity if the budget allows, else by giving back the half that was freed last, and p
// itself where the magazine has no slot at all.
Heaps::Flush Heaps::flush_locked(OwnerIndex o, ClassIndex c, void *p) {
    if (grow(o, c)) return Flush::room;
    void *blocks[1 + kMagazineMaxSlots / 2];
    const std::uint32_t capacity = heap(o).magazines.capacity(c);
    const std::int64_t popped = slab(o).pop_n(magazine_of(c), blocks, (capacity + 1) / 2);
    if (popped < 0) return Flush::moved;
    if (popped == 0) blocks[0] = p;
    give_back(o, blocks, popped == 0 ? 1 : static_cast<std::uint32_t>(popped));
    return popped == 0 ? Flush::freed : Flush::room;
}

Heaps::Flush Heaps::flush_remote(OwnerIndex o) {
    if (!lock(o)) return Flush::refused;
    const Flush result = flush_remote_locked(o, true);
    unlock_and_settle(o);
    return result;
}

Heaps::Flush Heaps::flush_remote_locked(OwnerIndex o, bool may_grow) {
    const platform::MagazineHeader header = slab(o).header(kRemoteMagazine);
    const auto capacity = static_cast<std::uint32_t>(header.limit - header.begin);
    if (may_grow && capacity < kRemoteMagazineSlots) {
        const std::uint32_t wider = capacity == 0 ? kMagazineFirstSlots : capacity * 2;
        if (!slab(o).set_capacity(kRemoteMagazine, kRemoteSlotsBegin, wider)) return Flush::moved;
        if (capacity == 0) return Flush::room;
    }
    void *blocks[kRemoteMagazineSlots];
    const std::int64_t popped = slab(o).pop_n(kRemoteMagazine, blocks, kRemoteMagazineSlots);
    if (popped < 0) return Flush::moved;
    RemoteBatch batch(*this);
    OfflineGiver offline(*this);
    for (std::int64_t i = 0; i < popped; ++i) {
        const BlockRef ref = find_or_die("free", blocks[i]);
        if (!offline.give(ref, blocks[i])) batch.add(ref.superblock, ref.index, blocks[i]);
    }
    return Flush::room;
}

// The heap's lock is held. Blocks whose superblock has moved on in the meantime go to its owner.
void Heaps::give_back(OwnerIndex o, void *const *blocks, std::uint32_t count) {
    OfflineGiver offline(*this);
    for (std::uint32_t done = 0; done < count;) {
        const void *const p = blocks[done];
        const BlockRef ref = find_or_die("free", p);
        Superblock *const s = ref.superblock;
        // Rule 1: stable while the lock is held, if it is this heap.
        if (owner_of(s) == o) {
            const std::uint32_t given = superblocks_.give_all(s, blocks + done, count - done);
            if (given == 0) die_twice("free", p, s->shape().size);
            offline.let_go();  // the superblock may have to go there itself
            gave(o, s, given);
            done += given;
            continue;
        }
        if (!offline.give(ref, p)) {
            const BitPosition at = BitPosition::of(ref.index);
            set_remote(s, at.word, at.mask);
        }
        ++done;
    }
}

// The heap's lock is held, and its magazines may be touched.
void Heaps::flush_all_locked(OwnerIndex o) {
    void *blocks[kMagazineMaxSlots];
    for (std::uint32_t c = 1; c < kClassCount; ++c) {
        const std::int64_t popped = slab(o).pop_n(magazine_of(ClassIndex(c)), blocks, kMagazineMaxSlots);
        if (popped > 0) give_back(o, blocks, static_cast<std::uint32_t>(popped));
    }
    flush_remote_locked(o, false);
}

void Heaps::reclaim() {
    const Inside inside;
    for (std::uint32_t i = 0; i < active_heaps(); ++i) {
        const OwnerIndex o = owner_of_heap(i);
        if (!lock(o)) continue;
        // With sequences only the caller's own slab gives anything; a foreign cid is refused by each.
        flush_all_locked(o);
        drain(o);
        release_empty(o);
        unlock_and_settle(o);
    }
    for (std::uint32_t c = 1; c < kClassCount; ++c) settle(owner_of_global(ClassIndex(c)));
    for (std::uint32_t i = 0; i < active_heaps(); ++i) settle(owner_of_heap(i));
}

void Heaps::count_cached(std::uint64_t (&blocks)[kClassCount]) const {
    for (std::uint32_t i = 0; i < active_heaps(); ++i) {
        const Slab s = slab(owner_of_heap(i));
        for (std::uint32_t c = 1; c < kClassCount; ++c) {
            const platform::MagazineHeader header = s.header(magazine_of(ClassIndex(c)));
            blocks[c] += static_cast<std::uint64_t>(header.current - header.begin);
        }
        const platform::MagazineHeader remote = s.header(kRemoteMagazine);
        for (std::uint32_t slot = remote.begin; slot < remote.current; ++slot) {
            const void *const p = s.peek(kRemoteMagazine, slot);
            if (!region_.contains(p)) continue;
            ++blocks[class_in(load_entry(region_, region_.unit_of(p))).value];
        }
    }
}

}  // namespace gr
