// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: connects the protocol of remote frees with the real owners, and gives what a drain finds to ownership and
//    messenger.
// Invariant: the only file of this folder that includes what is built on it (the star in
//    test/structure/src/heap_order.txt). The calls form a circle: a drain returns blocks, returning blocks may lock
//    other owners, and every unlock drains.
// Must not know: what ownership and messenger do with the blocks.
#include "heap/messenger.hpp"
#include "heap/ownership.hpp"
#include "heap/remote_protocol.hpp"
#include "platform/events.hpp"

namespace gr {

std::uint32_t RemoteFrees::World::exchange_mark(Superblock *s, std::uint32_t mark) const {
    platform::count(platform::Event::atomic_operation);
    // acq_rel: pairs with the exchange of the other side, in both directions (rule 4).
    return s->mark.exchange(mark, std::memory_order_acq_rel);
}

void RemoteFrees::World::push(OwnerIndex o, Superblock *s) const { owners.owner(o).pending.push(s); }

Superblock *RemoteFrees::World::take_all(OwnerIndex o) const {
    owners.owner(o).remote_bytes.store(0, std::memory_order_relaxed);
    return owners.owner(o).pending.take_all();
}

Superblock *RemoteFrees::World::next(const Superblock *s) const { return s->link.load(std::memory_order_relaxed); }

bool RemoteFrees::World::has_pending(OwnerIndex o) const { return owners.owner(o).has_news(); }

// A heap for which something waits is active already. To activate a heap here would mean to wait for a lock.
bool RemoteFrees::World::try_lock(OwnerIndex o) const {
    return (!is_heap(o) || owners.is_active(o)) && owners.try_lock(o);
}

// The protocol itself looks whether something waits.
void RemoteFrees::World::unlock(OwnerIndex o) const { static_cast<void>(owners.unlock(o)); }

void RemoteFrees::World::read_inbox(OwnerIndex o) const { messenger.receive(o); }

void RemoteFrees::World::collect(OwnerIndex o, Superblock *s) const { ownership.collect(o, s); }

void RemoteFrees::announce(Superblock *s) { RemoteProtocol<World>::announce(world_, s); }

void RemoteFrees::drain(OwnerIndex o) { RemoteProtocol<World>::drain(world_, o); }

void RemoteFrees::settle(OwnerIndex o) { RemoteProtocol<World>::settle(world_, o); }

}  // namespace gr
