// SPDX-License-Identifier: Apache-2.0 OR MIT
// Memory grows only after the global heap, other heaps' excess, and magazines of unused classes were tried.

#include "heap/refiller.hpp"

#include "platform/events.hpp"
#include "platform/memory.hpp"

namespace gr {

void *Refiller::refill(OwnerIndex o, ClassIndex c) {
    platform::count(platform::Event::refill);
    Heap &heap = owners_.heap(o);
    heap.note_use();
    if (heap.has_news()) {
        remote_.drain(o);
        void *block = nullptr;
        if (owners_.slab(o).pop_n(magazine_of(c), &block, 1) == 1) {
            heap.magazines.note_use(c);
            return block;
        }
    }
    const Prefer prefer = preferred(o, c);
    capacities_.grow(o, c);
    return take_batch(o, c, prefer);
}

// Not inlined, so that its blocks lie on the stack only while it runs.
[[gnu::noinline]] void *Refiller::take_batch(OwnerIndex o, ClassIndex c, Prefer prefer) {
    void *room[kBatchBlocks + 1];
    std::uint32_t most = batch_of(owners_.heap(o).magazines.capacity(c) / 2) + 1;
    if (most > kWordBits) most -= most % kWordBits;  // taking whole words of a bitmap is quickest
    const std::uint32_t taken = take(o, c, {room, most}, prefer);
    if (taken == 0) return nullptr;
    void *const wanted = room[most - 1];
    void **const others = room + most - taken;
    const std::uint32_t count = taken - 1;
    const std::int64_t pushed = count == 0 ? 0 : owners_.slab(o).push_n(magazine_of(c), others, count);
    const std::uint32_t kept = pushed < 0 ? 0 : static_cast<std::uint32_t>(pushed);
    // The thread moved to another CPU meanwhile, or another thread filled the magazine.
    if (kept != count) returns_.give_back(o, others, count - kept);
    return wanted;
}

// The first superblock of a class of small blocks often stays the only one, with a page or two in use.
Prefer Refiller::preferred(OwnerIndex o, ClassIndex c) const {
    const bool is_first = owners_.heap(o).magazines.capacity(c) == 0;
    return is_first && shape_of(c).size <= kFineLimit ? Prefer::cold : Prefer::warm;
}

std::uint32_t Refiller::take(OwnerIndex o, ClassIndex c, std::span<void *> room, Prefer prefer) {
    Bin &bin = owners_.heap(o).bins[c.value];
    std::uint32_t taken = 0;
    while (taken < room.size()) {
        Superblock *s = bin.fullest();
        // A refill opens one more superblock at most, and only for its first block.
        if (s == nullptr) s = taken == 0 ? superblock_for(o, c, prefer) : nullptr;
        if (s == nullptr) return taken;
        const unsigned absent = s->absent.count();
        const std::uint32_t got = superblocks_.take(s, room.first(room.size() - taken));
        if (absent != 0) {
            const std::size_t retaken = (absent - s->absent.count()) * platform::page_size();
            pages_.became_present(retaken);
            pages_.retook(retaken);
        }
        bin.took(s, got);
        taken += got;
    }
    return taken;
}

Superblock *Refiller::superblock_for(OwnerIndex o, ClassIndex c, Prefer prefer) {
    const bool has_warm = pages_.retained_bytes() >= std::size_t{shape_of(c).units} * kUnitBytes;
    const Foreign foreign = prefer == Prefer::warm && has_warm ? Foreign::leave_few : Foreign::take;
    if (Superblock *const s = ownership_.take_from_global(o, c, foreign)) return s;
    if (Superblock *const s = ownership_.collect_excess(o, c, foreign)) return s;
    capacities_.empty_unused(o, c);
    if (Superblock *const s = ownership_.take_new(o, c, prefer)) return s;
    // Memory is used up: take what this heap's magazines hold, then what other heaps have free.
    flusher_.flush_all(o);
    if (Superblock *const s = owners_.heap(o).bins[c.value].fullest()) return s;
    if (Superblock *const s = ownership_.take_from_global(o, c, Foreign::take)) return s;
    if (Superblock *const s = take_from_others(o, c)) return s;
    return ownership_.take_new(o, c, prefer);
}

// Takes a superblock of this class from another heap whose lock is free. Empties that heap's magazines first, where
// they may be touched.
Superblock *Refiller::take_from_others(OwnerIndex to, ClassIndex c) {
    for (std::uint32_t i = 0; i < owners_.active_heaps(); ++i) {
        const OwnerIndex from = owner_of_heap(i);
        if (from == to || !owners_.try_lock(from)) continue;
        flusher_.flush_all(from);
        Superblock *const s = ownership_.take_from(from, to, c);
        remote_.unlock_and_settle(from);
        if (s != nullptr) return s;
    }
    return nullptr;
}

}  // namespace gr
