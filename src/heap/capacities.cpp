// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "heap/capacities.hpp"

#include <algorithm>

namespace gr {

bool Capacities::grow(OwnerIndex o, ClassIndex c) {
    MagazinePolicy &policy = owners_.heap(o).magazines;
    policy.note_use(c);
    if (address_saving_.lasts(pages_.present_bytes(), pages_.used_bytes())) [[unlikely]]
        return false;
    const std::size_t first = owners_.magazine_budget();
    const std::size_t most = owners_.most_magazine_bytes();
    const std::uint32_t now = policy.capacity(c);
    std::uint32_t wanted = policy.wanted(c, first, most);
    if (wanted == now && now < shape_of(c).magazine_slots) {
        shrink_quiet(o, c);
        wanted = policy.wanted(c, first, most);
        if (wanted == now) policy.note_denied();
    }
    return wanted != now && set(o, c, wanted);
}

// A magazine that moves to other slots takes its blocks along. false: the capacity is unchanged.
bool Capacities::set(OwnerIndex o, ClassIndex c, std::uint32_t capacity) {
    MagazinePolicy &policy = owners_.heap(o).magazines;
    Slab slab = owners_.slab(o);
    const ClassShape &shape = shape_of(c);
    const std::uint32_t begin = shape.slots_begin(capacity);
    void *moved[kMagazineNarrowSlots];
    std::int64_t count = 0;
    if (begin != shape.slots_begin(policy.capacity(c))) {
        flush_excess(o, c, kMagazineNarrowSlots);
        count = slab.pop_n(magazine_of(c), moved, kMagazineNarrowSlots);
    }
    const bool done = count >= 0 && slab.set_capacity(magazine_of(c), begin, capacity);
    if (done) policy.set_capacity(c, capacity);
    if (count > 0) {
        const std::int64_t pushed = slab.push_n(magazine_of(c), moved, static_cast<std::uint32_t>(count));
        const std::int64_t kept = pushed < 0 ? 0 : pushed;
        returns_.give_back(o, moved, static_cast<std::uint32_t>(count - kept));
    }
    return done;
}

// Halves the share of a class that has gone quiet.
void Capacities::shrink_quiet(OwnerIndex o, ClassIndex but) {
    MagazinePolicy &policy = owners_.heap(o).magazines;
    const ClassIndex c = policy.next_quiet(but);
    if (c.value == 0) return;
    const std::uint32_t capacity = policy.capacity(c) / 2;
    if (!set(o, c, capacity)) return;
    flush_excess(o, c, capacity);
    look(o, c, capacity);
}

void Capacities::flush_excess(OwnerIndex o, ClassIndex c, std::uint32_t keep) {
    constexpr std::uint32_t kMost = 64;  // small: the call stack may hold a batch already
    Slab slab = owners_.slab(o);
    void *blocks[kMost];
    for (;;) {
        const platform::MagazineHeader header = slab.header(magazine_of(c));
        const std::uint32_t held = header.held();
        if (held <= keep) return;
        const std::int64_t popped = slab.pop_n(magazine_of(c), blocks, std::min(held - keep, kMost));
        if (popped <= 0) return;
        returns_.give_back(o, blocks, static_cast<std::uint32_t>(popped));
    }
}

void Capacities::empty_unused(OwnerIndex o, ClassIndex but) {
    Heap &heap = owners_.heap(o);
    for (unsigned i = 0; i < kUnusedLooks; ++i) {
        const ClassIndex c = heap.magazines.next_unused(but);
        if (c.value == 0) continue;
        const platform::MagazineHeader header = owners_.slab(o).header(magazine_of(c));
        const std::uint32_t cached = header.held();
        const Bin &bin = heap.bins[c.value];
        if (cached == 0 || cached != bin.used_blocks(c)) continue;
        std::size_t resident = cached * std::size_t{shape_of(c).size};
        bin.for_each([&](const Superblock *s) { resident += superblocks_.idle_bytes(s); });
        if (resident >= kUnusedBytes) flush_excess(o, c, 0);
    }
}

void Capacities::close(OwnerIndex o) {
    owners_.slab(o).set_capacity(kRemoteMagazine, kRemoteSlotsBegin, 0);
    for (std::uint32_t c = 1; c < kClassCount; ++c) set(o, ClassIndex(c), 0);
}

// A detached magazine has no capacity already, but the policy does not know that yet.
void Capacities::close_stopped(OwnerIndex o) {
    Slab slab = owners_.slab(o);
    slab.close(kRemoteMagazine);
    for (std::uint32_t c = 1; c < kClassCount; ++c) {
        slab.close(magazine_of(ClassIndex(c)));
        owners_.heap(o).magazines.set_capacity(ClassIndex(c), 0);
    }
}

// Slots at and above `current` are stale and are not checked.
void Capacities::look(OwnerIndex o, ClassIndex c, std::uint32_t count) {
    const Slab slab = owners_.slab(o);
    MagazinePolicy &policy = owners_.heap(o).magazines;
    const std::uint32_t magazine = magazine_of(c);
    const platform::MagazineHeader header = slab.header(magazine);
    const std::size_t hand = header.begin + policy.hand(c);
    std::size_t slot = hand < header.current ? hand : header.begin;
    const std::size_t end = slot + count < header.current ? slot + count : header.current;
    if (const ClassShape shape = shape_of(c); shape.units == 1) [[likely]] {
        while (slot < end && shape.divides(Superblocks::offset_in_unit(slab.peek(magazine, slot)))) ++slot;
    } else {
        while (slot < end && superblocks_.may_be_block(shape_of(c), slab.peek(magazine, slot))) ++slot;
    }
    policy.set_hand(c, static_cast<std::uint32_t>(slot - header.begin));
    if (slot < end) [[unlikely]]
        flush_excess(o, c, 0);
}

}  // namespace gr
