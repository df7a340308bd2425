// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the word that the unit map holds for a unit: its owner, and where in the slabs its class's header lies.
// Invariant: the sequences compare the low half with the cid and use the high half as an offset in the slabs; 0 is no
//    block.
// Must not know: how entries are stored.
#pragma once

#include <atomic>

#include "heap/owner.hpp"
#include "platform/rseq/magazine_header.hpp"
#include "region/region.hpp"

namespace gr {

inline constexpr std::uint32_t kRunOwner = UINT32_MAX;
inline constexpr UnitEntry kRunEntry = kRunOwner;

constexpr UnitEntry entry_of(OwnerIndex o, ClassIndex c) {
    const std::uint64_t slab = is_heap(o) ? std::uint64_t{o.value} << platform::kSlabShift : 0;
    return (slab + platform::header_offset(c.value)) << 32 | o.value;
}

static_assert(kShapes[0].units == 0, "units without an entry and runs have class 0, which has no shape");
constexpr OwnerIndex owner_in(UnitEntry e) { return OwnerIndex(static_cast<std::uint32_t>(e)); }
constexpr ClassIndex class_in(UnitEntry e) {
    const std::uint64_t offset = (e >> 32) & (kSlabBytes - 1);
    return ClassIndex(static_cast<std::uint32_t>(offset / sizeof(platform::MagazineHeader)));
}

// Whole words, stored only when they change. relaxed: a stale entry is harmless (design), and the handover of the block
// itself orders the rest.
inline UnitEntry load_entry(const Region &region, UnitIndex u) {
    return std::atomic_ref<UnitEntry>(region.entry(u)).load(std::memory_order_relaxed);
}
inline void store_entries(const Region &region, const Superblock *s, UnitEntry e) {
    for (std::uint32_t i = 0; i < s->units.value; ++i) {
        std::atomic_ref<UnitEntry>(region.entry(s->unit + UnitCount(i))).store(e, std::memory_order_relaxed);
    }
}

static_assert(class_in(entry_of(OwnerIndex(7), ClassIndex(9))) == ClassIndex(9),
              "the class comes back out of an entry");
static_assert(kClassCount <= platform::kRemoteHeader, "each class has a header before the remote one");

}  // namespace gr
