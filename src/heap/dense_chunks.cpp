// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "heap/dense_chunks.hpp"

namespace gr {

void DenseChunks::make_huge_pages() {
    HugePages &huge = pages_.huge_pages();
    if (!huge.is_due(pages_.used_bytes()) || pages_.limit().is_above_soft()) [[likely]]
        return;
    huge.make_one(region_.chunk_count(), [this](ChunkIndex chunk) { return is_dense(chunk); });
}

void DenseChunks::make_huge_pages_of_tick() {
    HugePages &huge = pages_.huge_pages();
    if (!huge.may_make(pages_.used_bytes()) || pages_.limit().is_above_soft()) return;
    huge.make_some(region_.chunk_count(), [this](ChunkIndex chunk) { return is_dense(chunk); });
}

// A chunk with a run is not dense: nobody knows which pages of a run were touched, and all of them would become
// resident.
bool DenseChunks::is_dense(ChunkIndex chunk) {
    std::size_t absent = 0;
    bool superblocks_only = true;
    region_.for_each_unit(chunk, [&](UnitIndex u) {
        const UnitEntry e = load_entry(region_, u);
        if (e == 0 || e == kRunEntry) superblocks_only = false;
        if (superblocks_only) {
            ownership_.visit_superblock(
                u, [&](OwnerIndex, const Superblock *s) { absent += superblocks_.absent_bytes(s); });
        }
    });
    return superblocks_only && absent <= kChunkBytes / kHugeAbsentParts;
}

}  // namespace gr
