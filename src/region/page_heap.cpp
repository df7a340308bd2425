// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: page_heap.hpp: best fit among warm units, else first fit, by indices over masks per chunk; giving back in
//    batches with no lock held.
// Invariant: pieces being purged are marked used meanwhile, so nobody can be handed one.
// Must not know: superblocks; what a run is for.
#include "region/page_heap.hpp"

#include "base/check.hpp"
#include "platform/futex.hpp"
#include "platform/memory.hpp"
#include "platform/thread.hpp"
#include "region/warmest_fit.hpp"

namespace gr {

void PageHeap::initialise(char *memory, std::size_t retain_bytes, HugePageMaker maker, std::size_t most_earned) {
    const std::uint32_t chunks = region_.chunk_limit();
    chunks_ = reinterpret_cast<Chunk *>(memory);
    memory += chunks * sizeof(Chunk);
    warm_index_.initialise(chunks_);
    free_index_.initialise(memory, chunks);
    memory += FirstFitIndex::kFixedBytes + chunks * FirstFitIndex::kBytesPerChunk;
    huge_pages_.initialise(memory, region_, maker);
    allowance_.initialise(retain_bytes, most_earned);
}

void PageHeap::refresh(ChunkIndex c) {
    warm_index_.set_longest_run(c, longest_run(chunks_[c.value].dirty));
    free_index_.set_longest_run(c, longest_run(~chunks_[c.value].used));
}

// The lowest aligned run of ones, or -1.
int PageHeap::find_aligned(std::uint32_t mask, unsigned count, unsigned alignment) {
    for (unsigned bit = 0; bit + count <= kUnitsPerChunk; bit = static_cast<unsigned>(align_up(bit + 1, alignment))) {
        const int at = find_run(mask & ~run_mask(0, bit), count);
        if (at < 0) break;
        bit = static_cast<unsigned>(at);
        if (bit % alignment == 0) return at;
    }
    return -1;
}

// The lowest place among those units.
bool PageHeap::place(ChunkIndex c, std::uint32_t units, UnitCount count, UnitCount alignment, UnitIndex *first) const {
    const int bit = find_aligned(units, count.value, alignment.value);
    if (bit < 0) return false;
    *first = region_.unit_at(c) + UnitCount(static_cast<std::uint32_t>(bit));
    return true;
}

// A run that holds such a one wherever it begins; no longer than a chunk, whose start is aligned.
unsigned PageHeap::surely_holds(UnitCount count, UnitCount alignment) {
    const std::uint32_t sure = count.value + alignment.value - 1;
    return sure < kUnitsPerChunk ? sure : kUnitsPerChunk;
}

// The tightest place, so that large holes stay for large runs.
bool PageHeap::find_warm(UnitCount count, UnitCount alignment, UnitIndex *first) const {
    if (count.value > kUnitsPerChunk) return find_warm_long(count, alignment, first);
    const std::int64_t c = warm_index_.find(surely_holds(count, alignment));
    if (c < 0) return false;
    const ChunkIndex chunk(static_cast<std::uint32_t>(c));
    return place(chunk, chunks_[chunk.value].dirty, count, alignment, first);
}

// Longer than a chunk: where most of it is warm.
bool PageHeap::find_warm_long(UnitCount count, UnitCount alignment, UnitIndex *first) const {
    if (load(dirty_units_) == 0) return false;
    const std::uint32_t chunks = chunk_end_ < kLongSearchChunks ? chunk_end_ : kLongSearchChunks;
    const std::uint64_t unit = WarmestFit(count, alignment)
                                   .find(
                                       chunks, [this](std::uint32_t c) { return ~chunks_[c].used; },
                                       [this](std::uint32_t c) { return chunks_[c].dirty; });
    if (unit == WarmestFit::kNone) return false;
    *first = region_.first_unit() + UnitCount(static_cast<std::uint32_t>(unit));
    return true;
}

// The lowest place within a bounded number of chunks; what it does not find waits for its chunk's turn.
bool PageHeap::find_cold(UnitCount count, UnitCount alignment, UnitIndex *first) {
    if (count.value > kUnitsPerChunk) return false;
    // The first chunk that was never used is as cold as any.
    const std::uint32_t end = chunk_end_ < region_.chunk_limit() ? chunk_end_ + 1 : chunk_end_;
    for (std::uint32_t step = 0, c = cold_from_; step < kSearchChunks && c < end; ++step, ++c) {
        const std::uint32_t units = chunks_[c].cold();
        if (units == 0 && c == cold_from_) ++cold_from_;
        if (units != 0 && place(ChunkIndex(c), units, count, alignment, first)) return true;
    }
    return false;
}

// The lowest address, warm or cold.
bool PageHeap::find(UnitCount count, UnitCount alignment, UnitIndex *first) const {
    if (count.value > kUnitsPerChunk) {
        const std::int64_t c =
            free_index_.find_free_chunks(static_cast<std::uint32_t>(divide_up(count.value, kUnitsPerChunk)));
        if (c < 0) return false;
        *first = region_.unit_at(ChunkIndex(static_cast<std::uint32_t>(c)));
        return true;
    }
    const std::int64_t c = free_index_.find(surely_holds(count, alignment));
    if (c < 0) return false;
    const ChunkIndex chunk(static_cast<std::uint32_t>(c));
    return place(chunk, ~chunks_[chunk.value].used, count, alignment, first);
}

// So many are taken out of its warm units. Which of these have pages absent is not known: as many as on average.
std::uint32_t PageHeap::take_absent_pages(Chunk *chunk, std::uint32_t warm) {
    if (chunk->absent_pages == 0) [[likely]]
        return 0;
    const auto units = static_cast<std::uint32_t>(std::popcount(warm));
    const std::uint32_t pages = chunk->absent_pages * units / static_cast<std::uint32_t>(std::popcount(chunk->dirty));
    chunk->absent_pages -= pages;
    return pages;
}

// Marks the run used; true when every unit of it is known to be zero.
bool PageHeap::take(UnitIndex first, UnitCount count, For what) {
    bool zeroed = true;
    std::size_t missed = 0;
    for_each_chunk(first, count, [&](ChunkIndex c, std::uint32_t mask) {
        Chunk &chunk = chunks_[c.value];
        GR_CHECK((chunk.used & mask) == 0);
        const std::uint32_t warm = chunk.dirty & mask;
        zeroed = zeroed && warm == 0;
        subtract(dirty_units_, static_cast<std::size_t>(std::popcount(warm)));
        missed += static_cast<std::size_t>(std::popcount(chunk.given_back & mask)) * kUnitBytes;
        if (warm != 0) missed += take_absent_pages(&chunk, warm) * platform::page_size();
        chunk.dirty &= ~mask;
        chunk.given_back &= ~mask;
        chunk.used |= mask;
        if (c.value >= chunk_end_) chunk_end_ = c.value + 1;
        refresh(c);
    });
    if (missed != 0 && what == For::use) allowance_.retook(missed);
    add(used_units_, count.value);
    raise(peak_units_, load(used_units_) + load(dirty_units_));
    return zeroed;
}

void PageHeap::put(UnitIndex first, UnitCount count, bool dirty) {
    for_each_chunk(first, count, [&](ChunkIndex c, std::uint32_t mask) {
        Chunk &chunk = chunks_[c.value];
        GR_CHECK((chunk.used & mask) == mask);
        chunk.used &= ~mask;
        (dirty ? chunk.dirty : chunk.given_back) |= mask;
        dirty ? huge_pages_.was_released(c) : huge_pages_.was_split(c);
        if (!dirty && c.value < cold_from_) cold_from_ = c.value;
        refresh(c);
    });
    subtract(used_units_, count.value);
    if (dirty) add(dirty_units_, count.value);
    if (!dirty && region_.is_scarce()) unmap_cold(first, count, region_.least_hole());
}

bool PageHeap::allocate(UnitCount count, UnitCount alignment, Prefer prefer, Run *run) {
    // What is retained counts against the hard limit, too.
    if (!try_allocate(count, alignment, prefer, run) &&
        (!limit_.has_hard() || purge_beyond(0) == 0 || !try_allocate(count, alignment, prefer, run)))
        return false;
    retain_what_may_stay();
    return true;
}

void PageHeap::retain_what_may_stay() {
    if (retained_bytes() == 0) return;
    allowance_.note_in_use(in_use_bytes());
    const std::size_t may = may_retain();
    if (retained_bytes() > may) [[unlikely]]
        retain_less(may);
}

// A part more must go, so that the next release does not come here again.
void PageHeap::retain_less(std::size_t may) {
    const std::size_t part = allowance_.base(present_bytes()) / 2;
    purge_beyond(may > part ? may - part : 0);
}

bool PageHeap::try_allocate(UnitCount count, UnitCount alignment, Prefer prefer, Run *run) {
    const platform::Guard guard(mutex_, kRank);
    if (!guard.locked()) return false;
    const auto get = [&](bool found) { return found && obtain(run->first, count); };
    const auto get_warm = [&] { return get(find_warm(count, alignment, &run->first)); };
    const bool cold = prefer == Prefer::cold;
    // Where what is preferred cannot be had, what is there already may do. What lies lowest may not be there where
    // addresses are scarce.
    if (!(cold ? get(find_cold(count, alignment, &run->first)) : get_warm()) &&
        !get(find(count, alignment, &run->first)) && !(cold && get_warm()))
        return false;
    run->count = count;
    run->zeroed = take(run->first, count, For::use);
    return true;
}

// Whatever of the run is not ours yet, against the limit.
bool PageHeap::obtain(UnitIndex first, UnitCount count) {
    const std::uint32_t chunks = region_.chunk_of(UnitIndex(first.value + count.value - 1)).value + 1;
    std::size_t units = count.value;
    for_each_chunk(first, count, [&](ChunkIndex c, std::uint32_t mask) {
        units -= static_cast<std::size_t>(std::popcount(chunks_[c.value].dirty & mask));
    });
    if (units == 0) return true;
    const std::size_t bytes = units * kUnitBytes + region_.metadata_growth(chunks);
    const std::size_t tables = region_.metadata_bytes();
    if (!limit_.may_take(bytes)) return false;
    if (region_.ensure_chunks(chunks) && (!region_.is_scarce() || map_missing(first, count))) return true;
    limit_.gave(bytes - (region_.metadata_bytes() - tables));  // some of the tables may have grown
    return false;
}

bool PageHeap::release(UnitIndex first, UnitCount count, std::uint32_t absent_pages) {
    {
        const platform::Guard guard(mutex_, kRank);
        if (!guard.locked()) return false;
        allowance_.note_in_use(in_use_bytes());
        put(first, count, true);
        chunks_[region_.chunk_of(first).value].absent_pages += absent_pages;
    }
    review();
    retain_what_may_stay();
    return true;
}

bool PageHeap::is_free(UnitIndex first, UnitCount count) const {
    bool free = true;
    for_each_chunk(first, count, [&](ChunkIndex c, std::uint32_t mask) {
        free = free && c.value < region_.chunk_limit() && (chunks_[c.value].used & mask) == 0;
    });
    return free;
}

bool PageHeap::extend(UnitIndex first, UnitCount old_count, UnitCount new_count) {
    {
        const platform::Guard guard(mutex_, kRank);
        const UnitIndex more = first + old_count;
        const UnitCount count(new_count.value - old_count.value);
        if (!guard.locked() || !is_free(more, count)) return false;
        if (!obtain(more, count)) return false;
        take(more, count, For::use);
    }
    retain_what_may_stay();
    return true;
}

// Whether so much of it can go that a huge page may be split for it.
bool PageHeap::is_worth_purging(ChunkIndex c) const {
    const auto dirty = static_cast<unsigned>(std::popcount(chunks_[c.value].dirty));
    return dirty >= kUnitsPerChunk / kHugeSplitParts || !huge_pages_.may_be_huge(c);
}

// Claims up to a batch of dirty pieces, highest first, from the cursor down; their number.
unsigned PageHeap::claim_dirty(Piece *pieces, std::size_t bytes, Search *search) {
    unsigned count = 0;
    std::size_t claimed = 0;
    ChunkIndex &cursor = search->cursor;
    if (cursor.value > chunk_end_) cursor = ChunkIndex(chunk_end_);
    while (cursor.value != 0 && count < kPiecesPerBatch && claimed < bytes) {
        const ChunkIndex c(cursor.value - 1);
        const std::uint32_t dirty = chunks_[c.value].dirty;
        if (dirty == 0 || (!search->split && !is_worth_purging(c))) {
            cursor = c;
            continue;
        }
        const auto top = kUnitsPerChunk - static_cast<unsigned>(std::countl_zero(dirty));
        const unsigned length = static_cast<unsigned>(std::countl_one(dirty << (kUnitsPerChunk - top)));
        const Piece piece{region_.unit_at(c) + UnitCount(top - length), UnitCount(length)};
        take(piece.first, piece.count, For::purge);
        claimed += length * kUnitBytes;
        if (count != 0 && piece.first + piece.count == pieces[count - 1].first) {
            pieces[count - 1] = {piece.first, piece.count + pieces[count - 1].count};
        } else {
            pieces[count++] = piece;
        }
    }
    return count;
}

std::size_t PageHeap::purge_beyond(std::size_t keep) {
    Piece pieces[kPiecesPerBatch];
    std::size_t given_back = 0;
    Search search;
    for (bool refused = false; !refused;) {
        unsigned count = 0;
        {
            const platform::Guard guard(mutex_, kRank);
            if (!guard.locked() || retained_bytes() <= keep) return given_back;
            count = claim_dirty(pieces, retained_bytes() - keep, &search);
            if (count != 0) purges_begun_.fetch_add(1, std::memory_order_relaxed);
        }
        if (count == 0 && search.split) return given_back;
        if (count == 0) {
            search = {.split = true};  // nothing else is left
            continue;
        }
        std::uint64_t kept = 0;
        std::size_t bytes = 0;
        for (unsigned i = 0; i < count; ++i) {
            const std::size_t size = std::size_t{pieces[i].count.value} * kUnitBytes;
            if (platform::purge(region_.address(pieces[i].first), size)) {
                bytes += size;
            } else {
                kept |= Word{1} << i;
            }
        }
        // Nobody but a handler on this thread can be inside now, and it never stays: the lock is ours.
        mutex_.lock_always(kRank);
        for (unsigned i = 0; i < count; ++i) put(pieces[i].first, pieces[i].count, (kept >> i & 1) != 0);
        add(purged_bytes_, bytes);
        add(purge_calls_, count);
        mutex_.unlock(kRank);
        limit_.gave(bytes);
        purges_ended_.fetch_add(1, std::memory_order_release);
        given_back += bytes;
        refused = kept != 0;
    }
    return given_back;
}

// Some of those that end meanwhile may have begun later; then so many more did that it is no use to wait. Whoever is at it
// may not get to run before this thread sleeps.
void PageHeap::wait_for_purges() {
    const std::uint32_t begun = purges_begun_.load(std::memory_order_relaxed);
    for (unsigned i = 0;; ++i) {
        // acquire: who is told that they ended sees what is held since.
        const std::uint32_t ended = purges_ended_.load(std::memory_order_acquire);
        if (static_cast<std::int32_t>(ended - begun) >= 0) return;
        if (i < kYieldsForPurges) {
            platform::yield();
        } else {
            platform::sleep_on_for(purges_ended_, ended, kPurgeMilliseconds);
        }
    }
}

bool PageHeap::is_valid() const {
    std::size_t used = 0;
    std::size_t dirty = 0;
    for (std::uint32_t c = 0; c < chunk_end_; ++c) {
        const Chunk &chunk = chunks_[c];
        if ((chunk.used & chunk.dirty) != 0 || ((chunk.used | chunk.dirty) & chunk.given_back) != 0) return false;
        if (c < cold_from_ && chunk.cold() != 0) return false;
        if (warm_index_.longest_run(ChunkIndex(c)) != longest_run(chunk.dirty)) return false;
        if (free_index_.longest_run(ChunkIndex(c)) != longest_run(~chunk.used)) return false;
        used += static_cast<std::size_t>(std::popcount(chunk.used));
        dirty += static_cast<std::size_t>(std::popcount(chunk.dirty));
    }
    return used == load(used_units_) && dirty == load(dirty_units_);
}

}  // namespace gr
