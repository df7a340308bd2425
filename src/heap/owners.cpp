// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "heap/owners.hpp"

#include "platform/memory.hpp"
#include "platform/reentry.hpp"

namespace gr {

void Owners::initialise(const HeapsSetup &setup) {
    setup_ = setup;
    set_magazine_budget(setup.magazine_budget);
    heaps_ = reinterpret_cast<Heap *>(setup.owners);
    globals_ = reinterpret_cast<GlobalBin *>(setup.owners + setup.heaps * sizeof(Heap));
    nobody_ = reinterpret_cast<Owner *>(reinterpret_cast<char *>(globals_ + kClassCount));
}

bool Owners::activate_slowly(OwnerIndex o) {
    if (platform::Reentry::is_again()) return false;  // fork waits for the heaps' locks under the activation lock
    const platform::Guard guard(activation_, platform::Rank::activation);
    if (!guard.locked()) return false;
    // An inactive heap's slab reads as zeroes, so no sequence has anything to write there yet.
    while (!is_active(o)) {
        if (!pages_.limit().may_take(kSlabBytes) && (pages_.trim(0) == 0 || !pages_.limit().may_take(kSlabBytes)))
            return false;
        if (!pages_.region().make_writable(setup_.slabs + active_heaps() * kSlabBytes, kSlabBytes)) {
            pages_.limit().gave(kSlabBytes);
            return false;
        }
        active_heaps_.store(active_heaps() + 1, std::memory_order_release);
    }
    return true;
}

template <class Visit>
void Owners::for_each_mutex(platform::Rank rank, Visit visit) {
    if (rank == platform::Rank::activation) return visit(activation_);
    for_each_owner([&](OwnerIndex o) {
        if (rank_of(o) == rank) visit(owner(o).mutex);
    });
}

void Owners::lock_all(platform::Rank rank) {
    for_each_mutex(rank, [rank](platform::Mutex &mutex) { mutex.lock_always(rank); });
}

void Owners::unlock_all(platform::Rank rank) {
    for_each_mutex(rank, [rank](platform::Mutex &mutex) { mutex.unlock(rank); });
}

}  // namespace gr
