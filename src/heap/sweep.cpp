// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: giving back whole pages that are free under superblocks which have other blocks in use.
// Invariant: while a page is given back its blocks are marked used, so that nobody is handed one, and no owner's lock
//            is held. Who was refused by the kernel keeps the page and its blocks.
// Must not know: magazines.
#include "heap/heaps.hpp"
#include "platform/memory.hpp"

namespace gr {

std::size_t Heaps::sweep() {
    const std::size_t before = swept_bytes();
    if (!sweeping_.lock(platform::Rank::sweep)) return 0;
    for (UnitIndex u = region_.first_unit(); u < region_.unit_end(); ++u) {
        Superblock *const s = superblocks_.descriptor(u);
        // A hint; looked at again under the owner's lock.
        if (s->use == UnitUse::superblock) sweep_one(s);
    }
    const std::size_t given_back = swept_bytes() - before;
    sweeping_.unlock(platform::Rank::sweep);
    return given_back;
}

void Heaps::sweep_one(Superblock *s) {
    const OwnerIndex o = owner_of(s);
    if (o == kNobody || !lock(o)) return;
    PageSet pages;
    if (owner_of(s) == o) {
        const std::uint32_t claimed = superblocks_.claim_empty_pages(s, &pages);
        bin_of(o, s->size_class).took(s, claimed);
    }
    unlock_and_settle(o);
    if (!pages.any()) return;
    const std::size_t page = platform::page_size();
    PageSet gone;
    pages.for_each_run([&](unsigned first, unsigned count) {
        if (!platform::purge(superblocks_.begin(s) + first * page, count * page)) return;
        for (unsigned i = 0; i < count; ++i) gone.add(first + i);
        swept_bytes_.fetch_add(count * page, std::memory_order_relaxed);
        sweep_calls_.fetch_add(1, std::memory_order_relaxed);
    });
    give_back_swept(s, pages, gone);
}

// To whoever owns it now. It cannot have gone: blocks of it are marked used.
void Heaps::give_back_swept(Superblock *s, const PageSet &pages, const PageSet &gone) {
    for (;;) {
        const OwnerIndex o = owner_of(s);
        const bool locked = lock(o);
        GR_CHECK(locked);
        const bool still = owner_of(s) == o;
        if (still) {
            const std::uint32_t blocks = superblocks_.return_pages(s, pages);
            s->absent.add(gone);
            gave(o, s, blocks);
        }
        unlock_and_settle(o);
        if (still) return;
    }
}

}  // namespace gr
