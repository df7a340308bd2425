// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: giving back whole pages that are free under superblocks which have other blocks in use.
// Invariant: while a page is given back its blocks are marked used, so that nobody is handed one, and no owner's lock
//            is held. What the kernel refuses stays, its blocks too.
// Must not know: magazines.
#include "heap/heaps.hpp"
#include "platform/memory.hpp"

namespace gr {

std::size_t Heaps::sweep() {
    const platform::Guard guard(sweeping_, platform::Rank::sweep);
    if (!guard.locked()) return 0;
    begin_sweep();
    return sweep_chunks(sweep_cycle_.left(), SplitHuge::yes);
}

void Heaps::sweep_if_due() {
    const std::size_t may_stay = pages_.may_stay();
    if (!sweep_cycle_.is_due(slack_, may_stay)) return;
    if (!sweeping_.try_lock(platform::Rank::sweep)) return;
    if (sweep_cycle_.is_under_way()) {
        sweep_chunks(sweep_cycle_.take_chunks(slack_), may_stay == 0 ? SplitHuge::yes : SplitHuge::if_worth_it);
    } else {
        begin_sweep();
    }
    sweeping_.unlock(platform::Rank::sweep);
}

void Heaps::begin_sweep() { sweep_cycle_.begin(slack_, pages_.may_stay(), chunk_count()); }

// The next ones of the sweep that is under way; the bytes given back.
std::size_t Heaps::sweep_chunks(std::uint32_t count, SplitHuge split) {
    std::size_t given_back = 0;
    for (; count != 0; --count) {
        const ChunkIndex chunk = sweep_cycle_.next();
        if (split == SplitHuge::yes || is_worth_sweeping(chunk)) given_back += sweep_chunk(chunk);
    }
    sweep_cycle_.gave_back(given_back);
    if (sweep_cycle_.is_under_way()) return given_back;
    sweep_cycle_.end(slack_);
    // Less is in use now than before.
    return given_back + pages_.trim(pages_.may_retain());
}

// Whether so much of it can go that a huge page may be split for it.
bool Heaps::is_worth_sweeping(ChunkIndex chunk) {
    if (!pages_.huge_pages().may_be_huge(chunk)) return true;
    std::size_t empty = 0;
    for_each_unit(chunk, [&](UnitIndex u) {
        visit_superblock(u, [&](OwnerIndex, const Superblock *s) {
            empty += superblocks_.empty_pages(s).count() * platform::page_size();
        });
    });
    return empty >= kChunkBytes / kHugeSplitParts;
}

std::size_t Heaps::sweep_chunk(ChunkIndex chunk) {
    std::size_t given_back = 0;
    for_each_unit(chunk, [&](UnitIndex u) { given_back += sweep_unit(u); });
    if (given_back != 0) pages_.huge_pages().was_split(chunk);
    return given_back;
}

// Bytes given back of the superblock that begins there, if one does.
std::size_t Heaps::sweep_unit(UnitIndex u) {
    Superblock *const s = superblocks_.descriptor(u);
    PageSet pages;
    visit_superblock(u, [&](OwnerIndex o, Superblock *) {
        pages = superblocks_.empty_pages(s);
        const std::uint32_t claimed = superblocks_.claim_pages(s, pages);
        bin_of(o, s->size_class).took(s, claimed);
        if (!is_heap(o)) slack_.subtract(claimed * s->shape().size);
    });
    if (!pages.any()) return 0;
    const std::size_t page = platform::page_size();
    PageSet gone;
    pages.for_each_run([&](unsigned first, unsigned count) {
        if (!platform::purge(superblocks_.begin(s) + first * page, count * page)) return;
        for (unsigned i = 0; i < count; ++i) gone.add(first + i);
        swept_bytes_.fetch_add(count * page, std::memory_order_relaxed);
        sweep_calls_.fetch_add(1, std::memory_order_relaxed);
    });
    pages_.became_absent(gone.count() * page);
    give_back_swept(s, pages, gone);
    return gone.count() * page;
}

// To whoever owns it now. It cannot have gone: blocks of it are marked used.
void Heaps::give_back_swept(Superblock *s, const PageSet &pages, const PageSet &gone) {
    for (;;) {
        const OwnerIndex o = owner_of(s);
        const bool locked = lock(o);
        GR_CHECK(locked);
        const bool still = owner_of(s) == o;
        if (still) {
            const std::size_t absent = superblocks_.bytes_of_blocks(s, gone);  // afterwards s may be another's
            gave(o, s, superblocks_.return_pages(s, pages, gone));
            if (!is_heap(o)) slack_.subtract(absent);
        }
        unlock_and_settle(o);
        if (still) return;
    }
}

}  // namespace gr
