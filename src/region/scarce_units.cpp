// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: page_heap.hpp where addresses are scarce: units and the table that is seldom used get memory when they are
//    wanted, and units that are cold give their addresses back.
// Invariant: under the page heap's lock; a unit that is used or dirty is mapped, and who is refused leaves no cold one
//    mapped that was not.
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

// In a scarce region: gives memory to what of the run has none. false: refused, and what of it is cold has none.
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

// All units are mapped; those that are cold give their addresses back.
void PageHeap::became_scarce() {
    const std::uint32_t chunks = region_.chunk_count();
    for (std::uint32_t c = 0; c < chunks; ++c) chunks_[c].mapped = kWholeChunk;
    for (std::uint32_t c = 0; c < chunks; ++c)
        unmap_cold(region_.unit_at(ChunkIndex(c)), UnitCount(kUnitsPerChunk), region_.least_hole());
}

// In a scarce region: gives the addresses of cold units back, in the chunks of the run as far as rows of at least so many
// are concerned. Their pages went before, so it takes no longer than the lock may be held.
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
