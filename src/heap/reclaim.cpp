// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: returning what magazines hold, other concurrency ids' too: all that malloc_trim and who is out of memory ask
//       for, and what idle heaps have for the background thread.
// Invariant: another id's magazine is changed only while the sequences are stopped, with every heap's lock held. Its
//            blocks then stay where they lie, out of reach, until they are given back under that heap's lock.
// Must not know: who wants the memory.
#include "heap/heaps.hpp"
#include "platform/rseq/stop.hpp"

namespace gr {

void Heaps::reclaim_idle() {
    for (std::uint32_t i = 0; i < active_heaps(); ++i) heap(owner_of_heap(i)).note_tick();
    reclaim(Which::idle);
    make_huge_pages_of_tick();
}

void Heaps::reclaim(Which which) {
    const Inside inside;
    flush_each(which);
    // What came by letter meanwhile may lie in the caller's magazines now.
    if (!inside.again() && flush_stopped(which)) flush_each(which);
    store_.release_deferred();
    for (std::uint32_t c = 1; c < kClassCount; ++c) settle(owner_of_global(ClassIndex(c)));
    for (std::uint32_t i = 0; i < active_heaps(); ++i) settle(owner_of_heap(i));
}

// With sequences only the caller's own slab gives anything; a foreign cid is refused by each.
void Heaps::flush_each(Which which) {
    for (std::uint32_t i = 0; i < active_heaps(); ++i) {
        const OwnerIndex o = owner_of_heap(i);
        if (!is_wanted(o, which) || !lock(o)) continue;
        flush_all_locked(o);
        for (std::uint32_t c = 1; which == Which::thrift && c < kClassCount; ++c) set_capacity(o, ClassIndex(c), 0);
        release_empty(o);
        unlock_and_settle(o);
    }
}

bool Heaps::has_cached(Which which) {
    for (std::uint32_t i = 0; i < active_heaps(); ++i) {
        if (is_wanted(owner_of_heap(i), which) && slab(owner_of_heap(i)).has_blocks()) return true;
    }
    return false;
}

// With the locks of all heaps nobody publishes a header, and while the activation is held no new heap comes. false:
// there was nothing to do.
bool Heaps::flush_stopped(Which which) {
    if (setup_.zeroes == nullptr || (which != Which::thrift && !has_cached(which))) return false;
    const platform::Guard activation(activation_, platform::Rank::activation);
    if (!activation.locked()) return false;
    lock_all(platform::Rank::heap);
    const std::uint32_t count = active_heaps();
    {
        const platform::SequencesStopped stopped(setup_.zeroes);
        for (std::uint32_t i = 0; i < count && stopped.done(); ++i) {
            if (!is_wanted(owner_of_heap(i), which)) continue;
            slab(owner_of_heap(i)).detach_all();
            if (which == Which::thrift) close_magazines(owner_of_heap(i));
        }
    }
    // Nobody waits longer than he must: first those of which nothing is wanted.
    for (std::uint32_t i = 0; i < count; ++i) {
        if (!slab(owner_of_heap(i)).has_detached()) unlock_and_settle(owner_of_heap(i));
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        const OwnerIndex o = owner_of_heap(i);
        if (!slab(o).has_detached()) continue;
        flush_detached(o);
        release_empty(o);
        unlock_and_settle(o);
    }
    return true;
}

// The sequences are stopped and the blocks detached. What was detached is narrow already.
void Heaps::close_magazines(OwnerIndex o) {
    slab(o).close(kRemoteMagazine);
    for (std::uint32_t c = 1; c < kClassCount; ++c) {
        slab(o).close(magazine_of(ClassIndex(c)));
        heap(o).magazines.set_capacity(ClassIndex(c), 0);
    }
}

// The heap's lock is held. Its remote magazine comes first: letters come back to it by the drain.
void Heaps::flush_detached(OwnerIndex o) {
    Slab s = slab(o);
    send_to_owners(o, s.detached(kRemoteMagazine));
    s.forget_detached(kRemoteMagazine);
    drain(o);
    for (std::uint32_t i = 1; i < kClassCount; ++i) {
        const ClassIndex c(i);
        const std::span<void *const> blocks = s.detached(magazine_of(c));
        if (blocks.empty()) continue;
        give_back(o, blocks.data(), static_cast<std::uint32_t>(blocks.size()));
        s.forget_detached(magazine_of(c));
        heap(o).magazines.set_capacity(c, 0);
    }
}

// Capacities change, and blocks are detached, only while the heap's lock is held.
bool Heaps::has_agreed_capacities(OwnerIndex o) const {
    if (slab(o).has_detached()) return false;
    for (std::uint32_t c = 1; c < kClassCount; ++c) {
        const platform::MagazineHeader header = slab(o).header(magazine_of(ClassIndex(c)));
        if (header.limit - header.begin != static_cast<int>(heaps_[o.value].magazines.capacity(ClassIndex(c))))
            return false;
    }
    return true;
}

}  // namespace gr
