// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "heap/reclaimer.hpp"

#include "platform/reentry.hpp"
#include "platform/rseq/stop.hpp"

namespace gr {

void Reclaimer::reclaim_idle() {
    owners_.for_each_heap([this](OwnerIndex o) { owners_.heap(o).note_tick(); });
    reclaim(Which::idle);
}

void Reclaimer::reclaim(Which which) {
    const platform::Reentry entry;
    flush_each(which);
    // Blocks that came by message meanwhile may lie in the caller's magazines now.
    if (!entry.again() && flush_stopped(which)) flush_each(which);
    store_.release_deferred();
    for (std::uint32_t c = 1; c < kClassCount; ++c) remote_.settle(owner_of_global(ClassIndex(c)));
    owners_.for_each_heap([this](OwnerIndex o) { remote_.settle(o); });
}

// With sequences, only the caller's own slab gives blocks: each sequence refuses another cid.
void Reclaimer::flush_each(Which which) {
    owners_.for_each_heap([&](OwnerIndex o) {
        if (!is_wanted(o, which) || !owners_.lock(o)) return;
        flusher_.flush_all(o);
        if (which == Which::address_saving) capacities_.close(o);
        ownership_.release_empty(o);
        remote_.unlock_and_settle(o);
    });
}

bool Reclaimer::has_cached(Which which) {
    for (std::uint32_t i = 0; i < owners_.active_heaps(); ++i) {
        const OwnerIndex o = owner_of_heap(i);
        if (is_wanted(o, which) && owners_.slab(o).has_blocks()) return true;
    }
    return false;
}

// While the locks of all heaps are held, no thread publishes a header. While the activation lock is held, no heap
// becomes active. false: nothing was done.
bool Reclaimer::flush_stopped(Which which) {
    char *const zeroes = owners_.setup().zeroes;
    if (zeroes == nullptr || (which != Which::address_saving && !has_cached(which))) return false;
    const platform::Guard activation(owners_.activation(), platform::Rank::activation);
    if (!activation.locked()) return false;
    owners_.lock_all(platform::Rank::heap);
    {
        const platform::SequencesStopped stopped(owners_.setup().found_at, zeroes);
        owners_.for_each_heap([&](OwnerIndex o) {
            if (!stopped.done() || !is_wanted(o, which)) return;
            owners_.slab(o).detach_all();
            if (which == Which::address_saving) capacities_.close_stopped(o);
        });
    }
    // First release the heaps that have nothing to return, so that no thread waits longer than necessary.
    const std::uint32_t count = owners_.active_heaps();
    for (std::uint32_t i = 0; i < count; ++i) {
        const OwnerIndex o = owner_of_heap(i);
        if (!owners_.slab(o).has_detached()) remote_.unlock_and_settle(o);
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        const OwnerIndex o = owner_of_heap(i);
        if (!owners_.slab(o).has_detached()) continue;
        flusher_.flush_detached(o);
        ownership_.release_empty(o);
        remote_.unlock_and_settle(o);
    }
    return true;
}

}  // namespace gr
