// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: making huge pages of chunks full of superblocks whose pages nearly all hold something.
// Invariant: no lock is held while the kernel makes one.
// Must not know: who decides when; how the kernel is asked.
#include "heap/heaps.hpp"

namespace gr {

void Heaps::make_huge_pages() {
    HugePages &huge = pages_.huge_pages();
    if (!huge.is_due(pages_.used_bytes()) || pages_.limit().is_above_soft()) [[likely]]
        return;
    huge.make_one(chunk_count(), [this](ChunkIndex chunk) { return is_dense(chunk); });
}

void Heaps::make_huge_pages_of_tick() {
    HugePages &huge = pages_.huge_pages();
    if (!huge.may_make(pages_.used_bytes()) || pages_.limit().is_above_soft()) return;
    huge.make_some(chunk_count(), [this](ChunkIndex chunk) { return is_dense(chunk); });
}

// Of a run nobody knows which of its pages were touched: it would be resident to its end.
bool Heaps::is_dense(ChunkIndex chunk) {
    std::size_t absent = 0;
    bool superblocks_only = true;
    for_each_unit(chunk, [&](UnitIndex u) {
        const UnitEntry e = load_entry(region_, u);
        if (e == 0 || e == kRunEntry) superblocks_only = false;
        if (superblocks_only) {
            visit_superblock(u, [&](OwnerIndex, const Superblock *s) { absent += superblocks_.absent_bytes(s); });
        }
    });
    return superblocks_only && absent <= kChunkBytes / kHugeAbsentParts;
}

}  // namespace gr
