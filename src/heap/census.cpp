// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "heap/census.hpp"

#include "heap/unit_entry.hpp"
#include "platform/memory.hpp"

namespace gr {

void Census::count_cached(std::uint64_t (&blocks)[kClassCount]) const {
    owners_.for_each_heap([&](OwnerIndex o) {
        const Slab s = owners_.slab(o);
        for (std::uint32_t c = 1; c < kClassCount; ++c) {
            const platform::MagazineHeader header = s.header(magazine_of(ClassIndex(c)));
            blocks[c] += header.held();
        }
        const auto count = [&](const void *p) {
            if (region_.contains(p)) ++blocks[class_in(load_entry(region_, region_.unit_of(p))).value];
        };
        const platform::MagazineHeader remote = s.header(kRemoteMagazine);
        for (std::uint32_t slot = remote.begin; slot < remote.current; ++slot) count(s.peek(kRemoteMagazine, slot));
        owners_.outbox(o).for_each_block(count);
    });
}

Census::ClassUse Census::class_use(ClassIndex c) const {
    ClassUse all;
    const auto add = [&](const Bin &bin) {
        all.blocks += bin.peek_superblocks() * shape_of(c).blocks;
        all.free += bin.peek_free_blocks();
    };
    owners_.for_each_heap([&](OwnerIndex o) { add(owners_.heap(o).bins[c.value]); });
    add(owners_.global(c).bin);
    return all;
}

const char *Census::first_fault() const {
    std::size_t idle = 0;
    std::size_t absent = 0;
    for (std::uint32_t i = 0; i < owners_.active_heaps(); ++i) {
        const Heap &h = owners_.heap(owner_of_heap(i));
        if (!h.magazines.is_valid()) return "a heap's magazine capacities do not add up";
        if (!has_agreed_capacities(owner_of_heap(i))) return "a magazine's capacity is not what its heap believes";
        for (std::uint32_t c = 1; c < kClassCount; ++c) {
            if (!h.bins[c].is_valid(superblocks_)) return "a heap's bin is not valid";
            if (!h.bins[c].keeps_hoards_invariant(ClassIndex(c))) return "Hoard's invariant does not hold";
            h.bins[c].for_each([&](const Superblock *s) { absent += s->absent.count(); });
        }
    }
    for (std::uint32_t c = 1; c < kClassCount; ++c) {
        const Bin &bin = owners_.global(ClassIndex(c)).bin;
        if (!bin.is_valid(superblocks_)) return "a global bin is not valid";
        bin.for_each([&](const Superblock *s) {
            absent += s->absent.count();
            idle += superblocks_.idle_bytes(s);
        });
    }
    if (idle != global_free_.bytes()) return "what is free in the global heap was not counted right";
    std::size_t tails = 0;
    for (UnitIndex u = region_.first_unit(); u < region_.unit_end(); ++u) {
        if (const Superblock *const s = superblocks_.descriptor(u); s->use == UnitUse::run) tails += s->tail_bytes();
    }
    if (absent * platform::page_size() + tails != pages_.absent_bytes()) return "absent pages were not counted right";
    return nullptr;
}

// Capacities change, and blocks are detached, only while the heap's lock is held.
bool Census::has_agreed_capacities(OwnerIndex o) const {
    const Slab slab = owners_.slab(o);
    if (slab.has_detached()) return false;
    for (std::uint32_t c = 1; c < kClassCount; ++c) {
        const platform::MagazineHeader header = slab.header(magazine_of(ClassIndex(c)));
        if (header.capacity() != owners_.heap(o).magazines.capacity(ClassIndex(c))) return false;
    }
    return true;
}

}  // namespace gr
