// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the protocol of remote frees on the real owners; what a drain finds goes to ownership and messenger.
// Invariant: the only file of this folder that knows what is built on it (the star in
//    test/structure/src/heap_order.txt): a drain gives blocks, whoever gives locks others, and whoever unlocks drains.
// Must not know: what ownership and messenger do with it.
#include "heap/messenger.hpp"
#include "heap/ownership.hpp"
#include "heap/remote_protocol.hpp"
#include "platform/events.hpp"

namespace gr {

std::uint32_t RemoteFrees::World::exchange_mark(Superblock *s, std::uint32_t mark) const {
    platform::count(platform::Event::atomic_operation);
    // Both directions at once: pairs with itself on the other side (rule 4).
    return s->mark.exchange(mark, std::memory_order_acq_rel);
}

void RemoteFrees::World::push(OwnerIndex o, Superblock *s) const { owners.owner(o).pending.push(s); }

Superblock *RemoteFrees::World::take_all(OwnerIndex o) const {
    owners.owner(o).remote_bytes.store(0, std::memory_order_relaxed);
    return owners.owner(o).pending.take_all();
}

Superblock *RemoteFrees::World::next(const Superblock *s) const { return s->link.load(std::memory_order_relaxed); }

bool RemoteFrees::World::has_pending(OwnerIndex o) const { return owners.owner(o).has_news(); }

// Who has something waiting was activated; to activate here would be to wait.
bool RemoteFrees::World::try_lock(OwnerIndex o) const {
    return (!is_heap(o) || owners.is_active(o)) && owners.try_lock(o);
}

// The protocol looks itself.
void RemoteFrees::World::unlock(OwnerIndex o) const { static_cast<void>(owners.unlock(o)); }

void RemoteFrees::World::read_inbox(OwnerIndex o) const { messenger.receive(o); }

void RemoteFrees::World::collect(OwnerIndex o, Superblock *s) const { ownership.collect(o, s); }

void RemoteFrees::announce(Superblock *s) { RemoteProtocol<World>::announce(world_, s); }

void RemoteFrees::drain(OwnerIndex o) { RemoteProtocol<World>::drain(world_, o); }

void RemoteFrees::settle(OwnerIndex o) { RemoteProtocol<World>::settle(world_, o); }

}  // namespace gr
