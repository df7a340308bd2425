// SPDX-License-Identifier: Apache-2.0 OR MIT
// Best fit among warm units, else first fit. Two indices over the chunks' masks find a chunk.
#include "region/page_heap.hpp"

#include "base/check.hpp"
#include "platform/memory.hpp"
#include "region/warmest_fit.hpp"

namespace gr {

void PageHeap::initialise(char *memory, std::size_t retain_bytes, HugePageMaker maker, std::size_t most_earned) {
    chunks_ = reinterpret_cast<Chunk *>(region_.table(kChunks));
    warm_index_.initialise(chunks_);
    free_index_.initialise(region_.table(kFreeRuns), memory, region_.chunk_limit());
    huge_pages_.initialise(region_.table(kHugeStates), region_, maker);
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

// Finds the lowest place among `units` of the chunk.
bool PageHeap::place(ChunkIndex c, std::uint32_t units, UnitCount count, UnitCount alignment, UnitIndex *first) const {
    const int bit = find_aligned(units, count.value, alignment.value);
    if (bit < 0) return false;
    *first = region_.unit_at(c) + UnitCount(static_cast<std::uint32_t>(bit));
    return true;
}

// The length of a free run that holds an aligned run of `count` units wherever it begins. A chunk is always enough,
// because its start is aligned.
unsigned PageHeap::surely_holds(UnitCount count, UnitCount alignment) {
    const std::uint32_t sure = count.value + alignment.value - 1;
    return sure < kUnitsPerChunk ? sure : kUnitsPerChunk;
}

// Entries that are not warm, or too short, are removed, so each entry is looked at once.
bool PageHeap::find_recent(UnitCount count, RecentUnits *recent, UnitIndex *first) const {
    while (recent != nullptr && recent->take_latest(first)) {
        if (is_warm(*first, count)) return true;
    }
    return false;
}

// The tightest place in the group's chunks, so that large holes stay for large runs.
bool PageHeap::find_warm(UnitCount count, UnitCount alignment, CpuGroup group, UnitIndex *first) const {
    if (count.value > kUnitsPerChunk) return find_warm_long(count, alignment, first);
    const std::int64_t c = warm_index_.find(surely_holds(count, alignment), group);
    if (c < 0) return false;
    const ChunkIndex chunk(static_cast<std::uint32_t>(c));
    return place(chunk, chunks_[chunk.value].dirty, count, alignment, first);
}

// For a run longer than a chunk: the place where most units are warm.
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

// The lowest place within a bounded number of chunks. Cold units beyond these are found when cold_from_ has moved up.
bool PageHeap::find_cold(UnitCount count, UnitCount alignment, UnitIndex *first) {
    if (count.value > kUnitsPerChunk) return false;
    // All units of a chunk that was never used are cold, so the first such chunk is searched, too.
    const std::uint32_t end = chunk_end_ < region_.chunk_limit() ? chunk_end_ + 1 : chunk_end_;
    for (std::uint32_t step = 0, c = cold_from_; step < kSearchChunks && c < end; ++step, ++c) {
        const std::uint32_t units = chunk_at(ChunkIndex(c)).cold();
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
    const ChunkIndex at(static_cast<std::uint32_t>(c));
    return place(at, ~chunk_at(at).used, count, alignment, first);
}

// The warm units in the mask are taken. Removes their absent pages from the chunk's count and returns the number. Which
// units have absent pages is not known, so the average is assumed.
std::uint32_t PageHeap::take_absent_pages(Chunk *chunk, std::uint32_t warm) {
    if (chunk->absent_pages == 0) [[likely]]
        return 0;
    const auto units = static_cast<std::uint32_t>(std::popcount(warm));
    const std::uint32_t pages = chunk->absent_pages * units / static_cast<std::uint32_t>(std::popcount(chunk->dirty));
    chunk->absent_pages -= pages;
    return pages;
}

// Modulo 2^32: a unit that was returned just that long ago counts as returned a moment ago.
std::uint32_t PageHeap::milliseconds() {
    return static_cast<std::uint32_t>(platform::rough_nanoseconds() / kNanosecondsPerMillisecond);
}

// These units and pages of the chunk, which had been returned to the OS, are used again.
void PageHeap::regret(Chunk *chunk, std::uint32_t given_back, std::uint32_t absent_pages) {
    if (absent_pages != 0) retook(absent_pages * platform::page_size());
    if (given_back == 0) return;
    const std::uint32_t away = milliseconds() - chunk->given_back_at;
    allowance_.retook(static_cast<std::size_t>(std::popcount(given_back)) * kUnitBytes,
                      away * kNanosecondsPerMillisecond);
}

// Marks the run used; true when every unit of it is known to be zero.
bool PageHeap::take(UnitIndex first, UnitCount count, For what) {
    bool zeroed = true;
    for_each_chunk(first, count, [&](ChunkIndex c, std::uint32_t mask) {
        Chunk &chunk = chunks_[c.value];
        GR_CHECK((chunk.used & mask) == 0);
        const std::uint32_t warm = chunk.dirty & mask;
        zeroed = zeroed && warm == 0;
        subtract(dirty_units_, static_cast<std::size_t>(std::popcount(warm)));
        const std::uint32_t absent_pages = warm == 0 ? 0 : take_absent_pages(&chunk, warm);
        subtract(lazy_units_, static_cast<std::size_t>(std::popcount(chunk.lazy & mask)));
        if (what == For::use) regret(&chunk, chunk.given_back & mask, absent_pages);
        chunk.dirty &= ~mask;
        chunk.lazy &= ~mask;
        chunk.given_back &= ~mask;
        chunk.used |= mask;
        if (c.value >= chunk_end_) chunk_end_ = c.value + 1;
        refresh(c);
    });
    if (what == For::use) allowance_.note_units(retained_bytes());
    add(used_units_, count.value);
    raise(peak_units_, load(used_units_) + load(dirty_units_));
    return zeroed;
}

void PageHeap::put(UnitIndex first, UnitCount count, bool dirty) {
    const std::uint32_t now = dirty ? 0 : milliseconds();
    for_each_chunk(first, count, [&](ChunkIndex c, std::uint32_t mask) {
        Chunk &chunk = chunks_[c.value];
        GR_CHECK((chunk.used & mask) == mask);
        chunk.used &= ~mask;
        (dirty ? chunk.dirty : chunk.given_back) |= mask;
        if (!dirty) chunk.given_back_at = now;
        dirty ? huge_pages_.was_released(c) : huge_pages_.was_split(c);
        if (!dirty && c.value < cold_from_) cold_from_ = c.value;
        refresh(c);
    });
    subtract(used_units_, count.value);
    if (dirty) {
        add(dirty_units_, count.value);
        allowance_.note_units(retained_bytes());
    }
    if (!dirty && region_.is_scarce()) unmap_cold(first, count, region_.least_hole());
}

bool PageHeap::allocate(UnitCount count, UnitCount alignment, Prefer prefer, Run *run, Near near) {
    // Retained memory counts against the hard limit, too, and takes addresses in a scarce region. So the second attempt
    // comes after a purge.
    const auto after_purge = [&] {
        return (limit_.has_hard() || region_.is_scarce()) && purge_beyond(0) != 0 &&
               try_allocate(count, alignment, prefer, run, near);
    };
    if (!try_allocate(count, alignment, prefer, run, near) && !after_purge()) return false;
    retain_what_may_stay();
    return true;
}

bool PageHeap::try_allocate(UnitCount count, UnitCount alignment, Prefer prefer, Run *run, Near near) {
    const platform::Guard guard(mutex_, kRank);
    if (!guard.locked()) return false;
    const auto get = [&](bool found) { return found && obtain(run->first, count); };
    const auto get_warm = [&] {
        return get(find_recent(count, near.recent, &run->first)) ||
               get(find_warm(count, alignment, near.group, &run->first));
    };
    const bool cold = prefer == Prefer::cold;
    // Without preferred units the lowest free run is tried, and at last warm units also for Prefer::cold: in a scarce
    // region the lowest run may not be mapped, and warm units are.
    if (!(cold ? get(find_cold(count, alignment, &run->first)) : get_warm()) &&
        !get(find(count, alignment, &run->first)) && !(cold && get_warm()))
        return false;
    run->count = count;
    assign_unused(run->first, count, near.group);
    run->zeroed = take(run->first, count, For::use);
    fall_.note(in_use_bytes());
    return true;
}

// A chunk of which nothing is used belongs to the group that takes units of it. Another group may use it meanwhile, but
// each group prefers its own chunks, so they soon part.
void PageHeap::assign_unused(UnitIndex first, UnitCount count, CpuGroup group) {
    for_each_chunk(first, count, [&](ChunkIndex c, std::uint32_t) {
        if (chunks_[c.value].used == 0) warm_index_.set_group(c, group);
    });
}

// Counts the units of the run that are not dirty against the limit, and makes sure that they have memory and tables.
bool PageHeap::obtain(UnitIndex first, UnitCount count) {
    const std::uint32_t chunks = region_.chunk_of(UnitIndex(first.value + count.value - 1)).value + 1;
    std::size_t units = count.value;
    for_each_chunk(first, count, [&](ChunkIndex c, std::uint32_t mask) {
        units -= static_cast<std::size_t>(std::popcount(chunk_at(c).dirty & mask));
    });
    if (units == 0) return true;
    const std::size_t growth = region_.metadata_growth(chunks);
    const std::size_t tables = region_.metadata_bytes();
    if (!limit_.may_take(units * kUnitBytes + growth)) return false;
    bool got = region_.ensure_chunks(chunks);
    if (!got && units * kUnitBytes < region_.reserved_bytes() / kScarceRefusalParts && region_.become_scarce()) {
        became_scarce();
        got = region_.ensure_chunks(chunks);
    }
    got = got && (!region_.is_scarce() || map_missing(first, count));
    if (got) include_in_core_files(first, count);
    // Tables may have grown although the units were refused, or by less than `growth` if the kernel was short of
    // memory.
    limit_.gave(growth - (region_.metadata_bytes() - tables) + (got ? 0 : units * kUnitBytes));
    return got;
}

bool PageHeap::release(UnitIndex first, UnitCount count, std::uint32_t absent_pages) {
    bool fell = false;
    {
        const platform::Guard guard(mutex_, kRank);
        if (!guard.locked()) return false;
        allowance_.note_in_use(in_use_bytes());
        fall_.note(in_use_bytes());
        put(first, count, true);
        fall_.note(in_use_bytes());
        fell = fall_.is_at_end();
        chunks_[region_.chunk_of(first).value].absent_pages += absent_pages;
    }
    review();
    retain_what_may_stay();
    if (fell) free_reuse_lazily();
    return true;
}

bool PageHeap::is_free(UnitIndex first, UnitCount count) const {
    bool free = true;
    for_each_chunk(first, count, [&](ChunkIndex c, std::uint32_t mask) {
        free = free && c.value < region_.chunk_limit() && (chunk_at(c).used & mask) == 0;
    });
    return free;
}

bool PageHeap::is_warm(UnitIndex first, UnitCount count) const {
    bool warm = true;
    for_each_chunk(first, count,
                   [&](ChunkIndex c, std::uint32_t mask) { warm = warm && (chunk_at(c).dirty & mask) == mask; });
    return warm;
}

bool PageHeap::extend(UnitIndex first, UnitCount old_count, UnitCount new_count) {
    {
        const platform::Guard guard(mutex_, kRank);
        const UnitIndex more = first + old_count;
        const UnitCount count(new_count.value - old_count.value);
        if (!guard.locked() || !is_free(more, count)) return false;
        if (!obtain(more, count)) return false;
        assign_unused(more, count, warm_index_.group(region_.chunk_of(first)));
        take(more, count, For::use);
    }
    retain_what_may_stay();
    return true;
}

bool PageHeap::is_valid() const {
    std::size_t used = 0;
    std::size_t dirty = 0;
    std::size_t lazy = 0;
    for (std::uint32_t c = 0; c < chunk_end_; ++c) {
        const Chunk &chunk = chunks_[c];
        if ((chunk.used & chunk.dirty) != 0 || ((chunk.used | chunk.dirty) & chunk.given_back) != 0) return false;
        if (c < cold_from_ && chunk.cold() != 0) return false;
        if (warm_index_.longest_run(ChunkIndex(c)) != longest_run(chunk.dirty)) return false;
        if (free_index_.longest_run(ChunkIndex(c)) != longest_run(~chunk.used)) return false;
        if ((chunk.lazy & ~chunk.dirty) != 0) return false;
        if (chunk.left_out && !chunk.is_cold()) return false;
        lazy += static_cast<std::size_t>(std::popcount(chunk.lazy));
        used += static_cast<std::size_t>(std::popcount(chunk.used));
        dirty += static_cast<std::size_t>(std::popcount(chunk.dirty));
    }
    return used == load(used_units_) && dirty == load(dirty_units_) && lazy == load(lazy_units_);
}

}  // namespace gr
