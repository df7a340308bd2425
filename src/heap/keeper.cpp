// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: keeper.hpp.
// Invariant: as there.
// Must not know: why a block is live.
#include "heap/keeper.hpp"

#include "heap/misuse.hpp"

namespace gr {

void Keeper::drop_cached() {
    owners_.for_each_heap([this](OwnerIndex o) {
        owners_.slab(o).drop_all();
        Letter *letter = owners_.owner(o).mail.take_all();
        while (letter != nullptr) {
            Letter *const next = letter->link.load(std::memory_order_relaxed);
            letter->forget();
            letter = next;
        }
    });
    owners_.for_each_owner([this](OwnerIndex o) {
        Superblock *s = owners_.owner(o).pending.take_all();
        owners_.owner(o).remote_bytes.store(0, std::memory_order_relaxed);
        while (s != nullptr) {
            Superblock *const next = s->link.load(std::memory_order_relaxed);
            s->mark.store(0, std::memory_order_relaxed);
            s = next;
        }
    });
    for_each_superblock([this](Superblock *s) {
        void *twice = nullptr;
        const std::uint32_t freed = superblocks_.collect(s, &twice);
        if (twice != nullptr) die_twice(owners_.setup().free, twice, s->shape().size);
        if (freed != 0) ownership_.freed(owner_of(s), s, freed);
    });
}

// A run has an entry for its first unit only.
void Keeper::forget_stale_entries() {
    for (UnitIndex u = region_.first_unit(); u < region_.unit_end();) {
        const Superblock *const s = superblocks_.descriptor(u);
        const bool is_run = s->use == UnitUse::run;
        const bool is_superblock = s->use == UnitUse::superblock;
        const UnitCount count = is_run || is_superblock ? s->units : UnitCount(1);
        for (std::uint32_t i = is_run ? 1 : 0; i < count.value && !is_superblock; ++i)
            std::atomic_ref<UnitEntry>(region_.entry(u + UnitCount(i))).store(0, std::memory_order_relaxed);
        u = u + count;
    }
}

}  // namespace gr
