// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "heap/collector_view.hpp"

#include "heap/misuse.hpp"

namespace gr {

void CollectorView::drop_held() {
    owners_.for_each_heap([this](OwnerIndex o) {
        owners_.slab(o).drop_all();
        Message *message = owners_.owner(o).inbox.take_all();
        while (message != nullptr) {
            Message *const next = message->link.load(std::memory_order_relaxed);
            message->forget();
            message = next;
        }
    });
}

void CollectorView::drop_cached() {
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
