// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the page heap leaves rows of chunks that hold nothing out of core files, since a debugger would write their zeros.
// Invariant: the page heap's lock is held. A chunk that counts as left out has no used or dirty unit.
// Must not know: why a unit is free.
#include "platform/memory.hpp"
#include "region/page_heap.hpp"

namespace gr {

bool PageHeap::is_left_out(ChunkIndex c) const { return c.value < region_.chunk_count() && chunks_[c.value].left_out; }

bool PageHeap::may_be_left_out(ChunkIndex c) const {
    return c.value < region_.chunk_count() && chunks_[c.value].is_cold() && !chunks_[c.value].left_out;
}

// Called when units were returned to the OS. In a scarce region such units are unmapped instead.
void PageHeap::leave_out_of_core_files(UnitIndex first, UnitCount count) {
    if (region_.is_scarce()) return;
    const ChunkIndex behind = region_.chunk_of(first + count + UnitCount(kUnitsPerChunk - 1));
    for (ChunkIndex c = region_.chunk_of(first); c.value < behind.value;) c = leave_out_row(c);
    leave_out_row(ChunkIndex(chunk_end_));  // committed ahead of use
}

// The row around this chunk, if it is long enough. Returns the first chunk behind the row, or the next chunk.
ChunkIndex PageHeap::leave_out_row(ChunkIndex at) {
    const std::uint32_t part = region_.chunk_count() / kMostLeftOut;
    const std::uint32_t least = part < kLeastLeftOut ? kLeastLeftOut : part;
    if (!may_be_left_out(at)) return ChunkIndex(at.value + 1);
    ChunkIndex begin = at;
    while (begin.value != 0 && may_be_left_out(ChunkIndex(begin.value - 1))) --begin.value;
    ChunkIndex end = at;
    while (may_be_left_out(end)) ++end.value;
    const std::uint32_t chunks = end.value - begin.value;
    char *const row = region_.address(region_.unit_at(begin));
    if (chunks < least || !platform::set_in_core_files(row, chunks * kChunkBytes, platform::InCoreFiles::no))
        return end;
    for (std::uint32_t i = 0; i < chunks; ++i) chunks_[begin.value + i].left_out = true;
    return end;
}

// Called before units are used. At least kLeastLeftOut chunks of a row are included at once, so that there are few calls.
void PageHeap::include_in_core_files(UnitIndex first, UnitCount count) {
    const ChunkIndex behind = region_.chunk_of(first + count + UnitCount(kUnitsPerChunk - 1));
    ChunkIndex end = region_.chunk_of(first);
    while (end.value < behind.value) {
        const ChunkIndex begin = end;
        while (is_left_out(end) && (end.value < behind.value || end.value - begin.value < kLeastLeftOut))
            chunks_[end.value++].left_out = false;
        // If the kernel refuses, core files lack the contents of these chunks.
        const std::uint32_t chunks = end.value - begin.value;
        if (chunks != 0)
            platform::set_in_core_files(region_.address(region_.unit_at(begin)), chunks * kChunkBytes,
                                        platform::InCoreFiles::yes);
        else
            ++end.value;
    }
}

}  // namespace gr
