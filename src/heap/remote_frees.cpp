// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "heap/remote_frees.hpp"

#include "heap/misuse.hpp"
#include "platform/events.hpp"

namespace gr {

void RemoteFrees::set(Superblock *s, std::uint32_t word, Word mask, MayWait may_wait) {
    const ClassIndex c = s->size_class;
    const std::size_t size = shape_of(c).size;
    platform::count(platform::Event::atomic_operation);
    if (!superblocks_.set_remote(s, word, mask)) {
        const auto first = static_cast<std::uint32_t>(std::countr_zero(mask));
        die_twice(world_.owners.setup().free, superblocks_.address(s, BlockIndex(word * kWordBits + first)), size);
    }
    announce(s);
    const OwnerIndex o = owner_of(s);
    if (!is_heap(o)) return;
    note(o, static_cast<std::size_t>(std::popcount(mask)) * size, may_wait);
    if (may_wait == MayWait::no) world_.owners.global(c).excess.store(true, std::memory_order_relaxed);
}

void RemoteFrees::note(OwnerIndex o, std::size_t bytes, MayWait may_wait) {
    platform::count(platform::Event::atomic_operation);
    const std::size_t waiting = world_.owners.owner(o).remote_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (waiting > (address_saving_.is_on() ? 0 : kRemoteThreshold) && may_wait == MayWait::yes) settle(o);
}

void RemoteFrees::settle_all() {
    world_.owners.for_each_owner([this](OwnerIndex o) { settle(o); });
}

}  // namespace gr
