// SPDX-License-Identifier: Apache-2.0 OR MIT
// A thread that holds a heap's lock only tries other heaps' locks, and in a drain only tries a global bin's lock.

#include "heap/ownership.hpp"

#include "heap/misuse.hpp"
#include "platform/events.hpp"
#include "platform/reentry.hpp"

namespace gr {

void Ownership::collect(OwnerIndex o, Superblock *s) {
    if (o == kNobody) return;  // released meanwhile: all its blocks were free, so no bit can be set
    void *twice = nullptr;
    const std::uint32_t blocks = superblocks_.collect(s, &twice);
    if (twice != nullptr) die_twice(owners_.setup().free, twice, s->shape().size);
    if (blocks != 0) gave(o, s, blocks);
}

void Ownership::freed(OwnerIndex o, Superblock *s, std::uint32_t blocks) {
    owners_.bin_of(o, s->size_class).gave(s, blocks);
    if (!is_heap(o)) global_free_.add(std::size_t{blocks} * s->shape().size);
}

void Ownership::gave(OwnerIndex o, Superblock *s, std::uint32_t blocks) {
    const ClassIndex c = s->size_class;
    Bin &bin = owners_.bin_of(o, c);
    freed(o, s, blocks);
    if (s->is_empty()) {
        if (!is_heap(o)) global_free_.subtract(superblocks_.idle_bytes(s));
        release(o, s);
    }
    if (!is_heap(o)) {
        owners_.global(c).offered.store(bin.superblocks(), std::memory_order_relaxed);
        return;
    }
    restore_invariant(o, c, MayWait::no);
}

void Ownership::took(OwnerIndex o, Superblock *s, std::uint32_t blocks) {
    owners_.bin_of(o, s->size_class).took(s, blocks);
    if (!is_heap(o)) global_free_.subtract(blocks * s->shape().size);
}

void Ownership::restore_invariant(OwnerIndex o, ClassIndex c, MayWait may_wait) {
    Bin &bin = owners_.heap(o).bins[c.value];
    while (!bin.keeps_hoards_invariant(c)) {
        Superblock *const emptiest = bin.emptiest();
        if (emptiest == nullptr) return;
        if (emptiest->is_empty()) {
            release(o, emptiest);
        } else if (!give_to_global(o, emptiest, may_wait)) {
            // The next free tries again. If there is none, the next heap that wants a new superblock of the class does.
            owners_.global(c).excess.store(true, std::memory_order_relaxed);
            return;
        }
    }
}

void Ownership::restore_invariants() {
    const platform::Reentry entry;
    owners_.for_each_heap([this](OwnerIndex o) {
        if (!owners_.lock(o)) return;
        for (std::uint32_t c = 1; c < kClassCount; ++c) restore_invariant(o, ClassIndex(c), MayWait::yes);
        remote_.unlock_and_settle(o);
    });
}

void Ownership::release(OwnerIndex o, Superblock *s) {
    if (is_heap(o)) owners_.heap(o).recent.note(s->unit);
    owners_.bin_of(o, s->size_class).abandon(s);
    store_.take_back(s);
}

// visit may remove the superblock from the bin.
template <class Visit>
void Ownership::for_each_empty(Bin &bin, Visit visit) {
    for (Superblock *s = bin.first_of(kFullnessGroups - 1); s != nullptr;) {
        Superblock *const next = s->next;
        if (s->is_empty()) visit(s);
        s = next;
    }
}

void Ownership::release_empty(OwnerIndex o) {
    for (std::uint32_t c = 1; c < kClassCount; ++c) {
        Bin &bin = owners_.heap(o).bins[c];
        for_each_empty(bin, [&](Superblock *s) { release(o, s); });
    }
}

void Ownership::release_all_empty() {
    const platform::Reentry entry;
    owners_.for_each_heap([this](OwnerIndex o) {
        if (!owners_.lock(o)) return;
        release_empty(o);
        remote_.unlock_and_settle(o);
    });
    for (std::uint32_t c = 1; c < kClassCount; ++c) {
        const OwnerIndex o = owner_of_global(ClassIndex(c));
        if (!owners_.lock(o)) continue;
        Bin &bin = owners_.global(ClassIndex(c)).bin;
        for_each_empty(bin, [&](Superblock *s) {
            global_free_.subtract(superblocks_.idle_bytes(s));
            release(o, s);
        });
        owners_.global(ClassIndex(c)).offered.store(bin.superblocks(), std::memory_order_relaxed);
        remote_.unlock_and_settle(o);
    }
}

// A drain may not wait here: its thread may hold another global bin's lock already.
bool Ownership::give_to_global(OwnerIndex from, Superblock *s, MayWait may_wait) {
    const ClassIndex c = s->size_class;
    const OwnerIndex to = owner_of_global(c);
    GlobalBin &target = owners_.global(c);
    if (!owners_.lock(to, may_wait)) return false;
    owners_.heap(from).recent.note(s->unit);
    owners_.heap(from).bins[c.value].abandon(s);
    store_.hand_over(s, to);
    target.bin.adopt(s);
    global_free_.add(superblocks_.idle_bytes(s));
    target.offered.store(target.bin.superblocks(), std::memory_order_relaxed);
    remote_.unlock_and_settle(to);
    return true;
}

namespace {

// What Hoard's table 3 counts.
void count_shared(const Superblock *s) {
    platform::count(platform::Event::shared_superblock);
    platform::count(platform::Event::shared_block, s->used_count());
}

}  // namespace

// The lock of the global bin is held. nullptr: none of its superblocks is known to come from that heap. While a purge
// returns pages of a superblock, the superblock may count as full.
Superblock *Ownership::recently_given(OwnerIndex by, ClassIndex c) const {
    const UnitEntry wanted = entry_of(owner_of_global(c), c);
    const auto has_free_blocks = [&](UnitIndex u) {
        const Superblock *const s = superblocks_.descriptor(u);
        return store_.entry(u) == wanted && s->use == UnitUse::superblock && !s->is_full();
    };
    UnitIndex first;
    return owners_.heap(by).recent.find(has_free_blocks, &first) ? superblocks_.descriptor(first) : nullptr;
}

Superblock *Ownership::take_from_global(OwnerIndex to, ClassIndex c, Foreign foreign) {
    const OwnerIndex from = owner_of_global(c);
    GlobalBin &source = owners_.global(c);
    if (source.offered.load(std::memory_order_relaxed) == 0 || !owners_.lock(from)) return nullptr;
    Superblock *s = recently_given(to, c);
    const bool few = source.bin.superblocks() <= kForeignSuperblocks * owners_.active_heaps();
    if (s == nullptr && (foreign == Foreign::take || !few)) {
        s = source.bin.fullest();
        if (s != nullptr) count_shared(s);
    }
    if (s != nullptr) {
        source.bin.abandon(s);
        global_free_.subtract(superblocks_.idle_bytes(s));
        source.offered.store(source.bin.superblocks(), std::memory_order_relaxed);
        store_.hand_over(s, to);
        owners_.heap(to).bins[c.value].adopt(s);
    }
    remote_.unlock_and_settle(from);
    return s;
}

Superblock *Ownership::take_from(OwnerIndex from, OwnerIndex to, ClassIndex c) {
    Superblock *const s = owners_.heap(from).bins[c.value].fullest();
    if (s == nullptr) return nullptr;
    owners_.heap(from).bins[c.value].abandon(s);
    store_.hand_over(s, to);
    owners_.heap(to).bins[c.value].adopt(s);
    restore_invariant(from, c, MayWait::yes);  // what `from` lost was its fullest superblock
    return s;
}

Superblock *Ownership::take_new(OwnerIndex to, ClassIndex c, Prefer prefer) {
    Bin &bin = owners_.heap(to).bins[c.value];
    Superblock *const s = store_.acquire_superblock(c, prefer, Near{cpu_group_of(to), &owners_.heap(to).recent});
    if (s == nullptr) return nullptr;
    if (!owners_.lock(kNobody)) {
        store_.release(s);
        return nullptr;
    }
    store_.hand_over(s, to);
    bin.adopt(s);
    remote_.unlock_and_settle(kNobody);
    return s;
}

Superblock *Ownership::collect_excess(OwnerIndex to, ClassIndex c, Foreign foreign) {
    std::atomic<bool> &excess = owners_.global(c).excess;
    if (!excess.load(std::memory_order_relaxed)) return nullptr;
    excess.store(false, std::memory_order_relaxed);  // first: a heap that is in excess later sets it again
    owners_.for_each_heap([&](OwnerIndex from) {
        if (from == to) return;
        if (!owners_.try_lock(from)) {
            excess.store(true, std::memory_order_relaxed);
            return;
        }
        restore_invariant(from, c, MayWait::yes);
        remote_.unlock_and_settle(from);
    });
    return take_from_global(to, c, foreign);
}

}  // namespace gr
