// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the page heap in a scarce region. Units and the seldom used table get memory when they are wanted. The
//    addresses of cold units are returned.
// Invariant: the page heap's lock is held. Every used or dirty unit is mapped. A refused request leaves no cold unit
//    mapped that was not mapped before.
// Must not know: superblocks; what a run is for; which run is taken.
#include "region/page_heap.hpp"

namespace gr {

bool PageHeap::ensure_table(std::size_t which, const Run &run) {
    const platform::Guard guard(mutex_, kRank);
    if (!guard.locked()) return false;
    const ChunkIndex last = region_.chunk_of(UnitIndex(run.first.value + run.count.value - 1));
    const std::size_t bytes = region_.table_growth(which, last);
    if (bytes == 0) return true;
    if (!limit_.may_take(bytes)) return false;
    if (region_.ensure_table(which, last)) return true;
    limit_.gave(bytes);
    return false;
}

// In a scarce region: maps the units of the run that have no memory. false: refused, and none is left mapped for the
// run.
bool PageHeap::map_missing(UnitIndex first, UnitCount count) {
    const UnitIndex end = first + count;
    const auto is_mapped = [&](UnitIndex u) {
        const std::uint32_t bit = (u.value - region_.first_unit().value) % kUnitsPerChunk;
        return (chunks_[region_.chunk_of(u).value].mapped >> bit & 1) != 0;
    };
    for (UnitIndex u = first; u < end;) {
        UnitIndex from = u;
        while (from < end && is_mapped(from)) from = from + UnitCount(1);
        for (u = from; u < end && !is_mapped(u);) u = u + UnitCount(1);
        const UnitCount missing(u.value - from.value);
        if (missing.value == 0) return true;
        if (!region_.map_units(from, missing)) {
            unmap_cold(first, UnitCount(from.value - first.value), UnitCount(1));
            return false;
        }
        for_each_chunk(from, missing, [&](ChunkIndex c, std::uint32_t mask) { chunks_[c.value].mapped |= mask; });
    }
    return true;
}

// All units are mapped when a region becomes scarce. Unmaps the cold units, so that none is left out of core files. Retained units stay mapped, so from now on few
// of them may stay for reuse.
void PageHeap::became_scarce() {
    const std::uint32_t chunks = region_.chunk_count();
    for (std::uint32_t c = 0; c < chunks; ++c) {
        chunks_[c].mapped = kWholeChunk;
        chunks_[c].left_out = false;
    }
    for (std::uint32_t c = 0; c < chunks; ++c)
        unmap_cold(region_.unit_at(ChunkIndex(c)), UnitCount(kUnitsPerChunk), region_.least_hole());
    allowance_.change_default_maximum(region_.reserved_bytes() / kScarceRetainParts);
}

bool PageHeap::make_room_outside(std::size_t bytes) {
    bool became = false;
    {
        const platform::Guard guard(mutex_, kRank);
        if (!guard.locked() || bytes > region_.reserved_bytes()) return false;
        became = region_.become_scarce();
        if (became) became_scarce();
    }
    return (region_.is_scarce() && purge_beyond(0) != 0) || became;
}

// In a scarce region: unmaps rows of at least `least` cold units in all chunks that the run touches. Their pages are
// returned already, so the calls are short enough to make them under the lock.
void PageHeap::unmap_cold(UnitIndex first, UnitCount count, UnitCount least) {
    for_each_chunk(first, count, [&](ChunkIndex c, std::uint32_t) {
        Chunk &chunk = chunks_[c.value];
        std::uint32_t cold = chunk.mapped & chunk.cold();
        while (cold != 0) {
            const auto bit = static_cast<unsigned>(std::countr_zero(cold));
            const auto length = static_cast<unsigned>(std::countr_one(cold >> bit));
            const std::uint32_t row = run_mask(bit, length);
            cold &= ~row;
            if (length < least.value && length < kUnitsPerChunk) continue;
            if (region_.unmap_units(region_.unit_at(c) + UnitCount(bit), UnitCount(length))) chunk.mapped &= ~row;
        }
    });
}

}  // namespace gr
