// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "heap/sweeper.hpp"

#include "platform/memory.hpp"

namespace gr {

std::size_t Sweeper::sweep() {
    const platform::Guard guard(mutex_, platform::Rank::sweep);
    if (!guard.locked()) return 0;
    begin();
    return sweep_chunks(cycle_.left(), SplitHuge::yes);
}

void Sweeper::sweep_if_due() {
    pages_.review(global_free_.bytes());
    const std::size_t may_stay = pages_.may_stay();
    if (!cycle_.is_due(global_free_, may_stay)) return;
    if (!mutex_.try_lock(platform::Rank::sweep)) return;
    if (cycle_.is_under_way()) {
        sweep_chunks(cycle_.take_chunks(global_free_), may_stay == 0 ? SplitHuge::yes : SplitHuge::if_worth_it);
    } else {
        begin();
    }
    mutex_.unlock(platform::Rank::sweep);
}

void Sweeper::sweep_rested() {
    const platform::Guard guard(mutex_, platform::Rank::sweep);
    if (!guard.locked()) return;
    for (std::uint32_t chunk = 0; chunk < region_.chunk_count(); ++chunk) {
        std::size_t given_back = 0;
        // `rested` is a hint without the owner's lock. If the superblock changes hands, a stale value does no harm.
        region_.for_each_unit(ChunkIndex(chunk), [&](UnitIndex u) {
            if (superblocks_.descriptor(u)->rested) given_back += sweep_unit(u);
        });
        if (given_back != 0) pages_.huge_pages().was_split(ChunkIndex(chunk));
    }
}

void Sweeper::begin() { cycle_.begin(global_free_, pages_.may_stay(), region_.chunk_count()); }

// Purges the next chunks of the purge that is under way. Returns the bytes returned to the OS.
std::size_t Sweeper::sweep_chunks(std::uint32_t count, SplitHuge split) {
    std::size_t given_back = 0;
    for (; count != 0; --count) {
        const ChunkIndex chunk = cycle_.next();
        if (split == SplitHuge::yes || is_worth_sweeping(chunk)) given_back += sweep_chunk(chunk);
    }
    cycle_.gave_back(given_back);
    if (cycle_.is_under_way()) return given_back;
    cycle_.end(global_free_);
    // Less memory is in use now, so less may be retained.
    return given_back + pages_.trim(pages_.may_retain());
}

// Whether so much of the chunk can be returned that a huge page may be split for it.
bool Sweeper::is_worth_sweeping(ChunkIndex chunk) {
    if (!pages_.huge_pages().may_be_huge(chunk)) return true;
    std::size_t empty = 0;
    region_.for_each_unit(chunk, [&](UnitIndex u) {
        ownership_.visit_superblock(u, [&](OwnerIndex, const Superblock *s) {
            empty += superblocks_.empty_pages(s).count() * platform::page_size();
        });
    });
    return empty >= kChunkBytes / kHugeSplitParts;
}

std::size_t Sweeper::sweep_chunk(ChunkIndex chunk) {
    std::size_t given_back = 0;
    region_.for_each_unit(chunk, [&](UnitIndex u) { given_back += sweep_unit(u); });
    if (given_back != 0) pages_.huge_pages().was_split(chunk);
    return given_back;
}

// Purges the superblock that begins at u, if one does. Returns the bytes returned to the OS.
std::size_t Sweeper::sweep_unit(UnitIndex u) {
    Superblock *const s = superblocks_.descriptor(u);
    PageSet pages;
    ownership_.visit_superblock(u, [&](OwnerIndex o, Superblock *) {
        pages = superblocks_.empty_pages(s);
        ownership_.took(o, s, superblocks_.claim_pages(s, pages));
    });
    if (!pages.any()) return 0;
    const std::size_t page = platform::page_size();
    PageSet gone;
    pages.for_each_run([&](unsigned first, unsigned count) {
        if (!platform::purge(superblocks_.begin(s) + first * page, count * page)) return;
        for (unsigned i = 0; i < count; ++i) gone.add(first + i);
        swept_bytes_.fetch_add(count * page, std::memory_order_relaxed);
        calls_.fetch_add(1, std::memory_order_relaxed);
    });
    pages_.became_absent(gone.count() * page);
    give_back_swept(s, pages, gone);
    return gone.count() * page;
}

// Under the lock of the present owner of s. s cannot have been released, because blocks of s are marked used.
void Sweeper::give_back_swept(Superblock *s, const PageSet &pages, const PageSet &gone) {
    ownership_.visit_owner(s, [&](OwnerIndex o) {
        const std::size_t absent = superblocks_.bytes_of_blocks(s, gone);  // after gave, s may have another owner
        ownership_.gave(o, s, superblocks_.return_pages(s, pages, gone));
        if (!is_heap(o)) global_free_.subtract(absent);
    });
}

}  // namespace gr
