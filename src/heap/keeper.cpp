// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "heap/keeper.hpp"

#include "heap/misuse.hpp"

namespace gr {

void Keeper::drop_held() {
    owners_.for_each_heap([this](OwnerIndex o) {
        owners_.slab(o).drop_all();
        Letter *letter = owners_.owner(o).mail.take_all();
        while (letter != nullptr) {
            Letter *const next = letter->link.load(std::memory_order_relaxed);
            letter->forget();
            letter = next;
        }
    });
}

void Keeper::drop_cached() {
    drop_held();
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

}  // namespace gr
