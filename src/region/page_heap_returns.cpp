// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how the page heap returns empty memory to the OS: now (purge), or when the kernel needs memory (lazily).
// Invariant: units that are being returned are marked used while the lock is not held, so that they are not handed out.
// Must not know: superblocks; what a run is for.
#include "base/check.hpp"
#include "platform/futex.hpp"
#include "platform/memory.hpp"
#include "platform/thread.hpp"
#include "region/page_heap.hpp"

namespace gr {

void PageHeap::retain_what_may_stay() {
    if (retained_bytes() == 0) return;
    allowance_.note_in_use(in_use_bytes());
    const std::size_t may = may_retain();
    if (retained_bytes() > may) [[unlikely]]
        retain_less(may);
}

// Purges half of the base allowance more than necessary, so that the next release need not purge again.
void PageHeap::retain_less(std::size_t may) {
    const std::size_t part = allowance_.base(present_bytes()) / 2;
    purge_beyond(may > part ? may - part : 0);
}

// Whether these units of the chunk are enough to split a huge page for them.
bool PageHeap::is_worth_splitting(ChunkIndex c, std::uint32_t units) const {
    return static_cast<unsigned>(std::popcount(units)) >= kUnitsPerChunk / kHugeSplitParts ||
           !huge_pages_.may_be_huge(c);
}

// Claims up to a batch of dirty pieces, highest address first, from the cursor downwards. Returns their number.
unsigned PageHeap::claim_dirty(Piece *pieces, std::size_t bytes, Search *search) {
    unsigned count = 0;
    std::size_t claimed = 0;
    ChunkIndex &cursor = search->cursor;
    if (cursor.value > chunk_end_) cursor = ChunkIndex(chunk_end_);
    while (cursor.value != 0 && count < kPiecesPerBatch && claimed < bytes) {
        const ChunkIndex c(cursor.value - 1);
        const Chunk &chunk = chunks_[c.value];
        const std::uint32_t dirty = search->lazy_too ? chunk.dirty : chunk.dirty & ~chunk.lazy;
        const std::uint32_t sought = runs_of(dirty, search->least);
        if (sought == 0 || (!search->split && !is_worth_splitting(c, sought))) {
            cursor = c;
            if (search->chunks != 0 && --search->chunks == 0) break;
            continue;
        }
        const auto top = kUnitsPerChunk - static_cast<unsigned>(std::countl_zero(sought));
        const unsigned length = static_cast<unsigned>(std::countl_one(sought << (kUnitsPerChunk - top)));
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
        // lock_always cannot fail: if a handler on this thread took the lock meanwhile, it has unlocked it again.
        mutex_.lock_always(kRank);
        for (unsigned i = 0; i < count; ++i) {
            const bool is_kept = (kept >> i & 1) != 0;
            put(pieces[i].first, pieces[i].count, is_kept);
            if (!is_kept) leave_out_of_core_files(pieces[i].first, pieces[i].count);
        }
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

// Batches that end meanwhile may have begun after this call. Then as many newer batches have returned memory, so that
// waiting for the older ones is of no use. A purging thread may not get to run before this thread sleeps.
void PageHeap::wait_for_purges() {
    const std::uint32_t begun = purges_begun_.load(std::memory_order_relaxed);
    for (unsigned i = 0;; ++i) {
        // acquire: pairs with the release where a batch ends, so that this thread sees the bytes held after the purge.
        const std::uint32_t ended = purges_ended_.load(std::memory_order_acquire);
        if (static_cast<std::int32_t>(ended - begun) >= 0) return;
        if (i < kYieldsForPurges) {
            platform::yield();
        } else {
            platform::sleep_on_for(purges_ended_, ended, kPurgeMilliseconds);
        }
    }
}

// Empty memory beyond the base allowance stays only for reuse, and the program may never use it again.
void PageHeap::free_reuse_lazily() {
    if (allowance_.earned() == 0) [[likely]]
        return;
    for (;;) {
        const std::size_t resident = retained_bytes() - lazy_bytes();
        const std::size_t base = allowance_.base(present_bytes());
        if (resident < base + kLazyLeastBytes || resident > retained_bytes()) return;
        const std::uint64_t now = platform::rough_nanoseconds();
        if (!lazy_budget_.may_begin(now)) return;
        if (!free_batch_lazily(resident - base, now)) return;
    }
}

// false: no units were found, the kernel refused, or the calling thread is inside the page heap already. The time
// budget counts the search like one more piece.
bool PageHeap::free_batch_lazily(std::size_t bytes, std::uint64_t now) {
    Piece pieces[kPiecesPerBatch];
    unsigned count = 0;
    {
        const platform::Guard guard(mutex_, kRank);
        if (!guard.locked()) return false;
        Search search{.cursor = lazy_cursor_, .lazy_too = false, .least = kLazyPieceUnits, .chunks = kLazySearchChunks};
        count = claim_dirty(pieces, bytes < kLazyBatchBytes ? bytes : kLazyBatchBytes, &search);
        lazy_cursor_ = search.cursor.value != 0 ? search.cursor : Search{}.cursor;
        if (count != 0) purges_begun_.fetch_add(1, std::memory_order_relaxed);
    }
    std::size_t bytes_freed = 0;
    bool freed = count != 0;
    for (unsigned i = 0; i < count && freed; ++i) {
        const std::size_t size = std::size_t{pieces[i].count.value} * kUnitBytes;
        freed = platform::free_lazily(region_.address(pieces[i].first), size);
        bytes_freed += size;
    }
    lazy_budget_.spend(now, bytes_freed / kKiB * kLazyNanosecondsPerKiB + (count + 1) * kLazyNanosecondsPerPiece);
    if (count == 0) return false;
    mutex_.lock_always(kRank);
    for (unsigned i = 0; i < count; ++i) unclaim_lazy(pieces[i], freed);
    mutex_.unlock(kRank);
    purges_ended_.fetch_add(1, std::memory_order_release);
    return freed;
}

void PageHeap::unclaim_lazy(const Piece &piece, bool is_lazy) {
    put(piece.first, piece.count, true);
    if (!is_lazy) return;
    for_each_chunk(piece.first, piece.count, [this](ChunkIndex c, std::uint32_t mask) {
        chunks_[c.value].lazy |= mask;
        if (mask != kWholeChunk) huge_pages_.was_split(c);
    });
    add(lazy_units_, piece.count.value);
}

}  // namespace gr
