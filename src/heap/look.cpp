// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a look at what stays in a magazine, for pointers to the inside of a block: a flush takes what was freed last, so
//       below it they could lie for ever.
// Invariant: a look only suspects, for whoever runs on the slab's CPU may pop what is being looked at and free it
//            elsewhere; the flush of the whole magazine judges. Stale slots above `current` are not looked at.
// Must not know: how a block is judged.
#include "heap/heaps.hpp"

namespace gr {

// The heap's lock is held. At the next `count` slots at most, as a hand goes round; it stays where it suspects.
void Heaps::look(OwnerIndex o, ClassIndex c, std::uint32_t count) {
    const Slab s = slab(o);
    MagazinePolicy &policy = heap(o).magazines;
    const std::uint32_t magazine = magazine_of(c);
    const platform::MagazineHeader header = s.header(magazine);
    const std::size_t hand = header.begin + policy.hand(c);
    std::size_t slot = hand < header.current ? hand : header.begin;
    const std::size_t end = slot + count < header.current ? slot + count : header.current;
    if (const ClassShape shape = shape_of(c); shape.units == 1) [[likely]] {
        while (slot < end && shape.divides(Superblocks::offset_in_unit(s.peek(magazine, slot)))) ++slot;
    } else {
        while (slot < end && superblocks_.may_be_block(shape_of(c), s.peek(magazine, slot))) ++slot;
    }
    policy.set_hand(c, static_cast<std::uint32_t>(slot - header.begin));
    if (slot < end) [[unlikely]]
        flush_excess(o, c, 0);
}

}  // namespace gr
