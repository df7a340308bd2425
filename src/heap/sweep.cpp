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
    return guard.locked() ? sweep_locked() : 0;
}

void Heaps::sweep_if_due() {
    if (slack_.expected() <= pages_.may_stay()) return;
    if (!sweeping_.try_lock(platform::Rank::sweep)) return;
    sweep_locked();
    sweeping_.unlock(platform::Rank::sweep);
}

std::size_t Heaps::sweep_locked() {
    pages_.judge_allowance();
    const std::size_t growth = slack_.growth();
    std::size_t given_back = 0;
    for (UnitIndex u = region_.first_unit(); u < region_.unit_end(); ++u) {
        // A superblock has an entry from the moment on when its first owner has it. What it says may be stale.
        const UnitEntry e = load_entry(region_, u);
        if (e != 0 && e != kRunEntry) given_back += sweep_unit(u, owner_in(e));
    }
    pages_.allowance().gave_back(given_back);
    slack_.was_swept(growth, given_back);
    // Less is in use now than before.
    return given_back + pages_.trim(pages_.may_retain());
}

// Bytes given back of the superblock that begins there, if its owner is still o.
std::size_t Heaps::sweep_unit(UnitIndex u, OwnerIndex o) {
    Superblock *const s = superblocks_.descriptor(u);
    if (!lock(o)) return 0;
    PageSet pages;
    // Interior units have entries, too, and descriptors whose owner means nothing.
    if (owner_of(s) == o && s->use == UnitUse::superblock) {
        const std::uint32_t claimed = superblocks_.claim_empty_pages(s, &pages);
        bin_of(o, s->size_class).took(s, claimed);
        if (!is_heap(o)) slack_.subtract(claimed * s->shape().size);
    }
    unlock_and_settle(o);
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
            const std::uint32_t blocks = superblocks_.return_pages(s, pages, gone);
            gave(o, s, blocks);
            if (!is_heap(o)) slack_.subtract(gone.count() * platform::page_size());
        }
        unlock_and_settle(o);
        if (still) return;
    }
}

}  // namespace gr
