// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how wide each magazine of a heap is: wider where it runs empty or full, within the budget; narrower where
//    nothing happens, and empty where nothing is live; and a look at what stays in one for pointers to the inside of a
//    block: a flush takes what was freed last, so below it they could lie for ever.
// Invariant: under the heap's lock; the header in the slab and the heap's MagazinePolicy say the same, and no block is
//    lost when a magazine moves or narrows. A look only suspects, for whoever runs on the slab's CPU may pop what is
//    being looked at and free it elsewhere; the flush of the whole magazine judges.
// Must not know: why a magazine ran empty or full.
#pragma once

#include "heap/address_saving.hpp"
#include "heap/returns.hpp"

namespace gr {

class Capacities {
  public:
    constexpr Capacities(Owners &owners, Returns &returns, const Superblocks &superblocks, const PageHeap &pages,
                         AddressSaving &address_saving)
        : owners_(owners),
          returns_(returns),
          superblocks_(superblocks),
          pages_(pages),
          address_saving_(address_saving) {}

    // Widens the magazine of a class that ran empty or full, within the budget, but not while addresses are saved. true: it
    // is wider now.
    bool grow(OwnerIndex o, ClassIndex c);
    // Whether the remote magazine may have slots.
    bool may_gather() const { return !address_saving_.is_on(); }
    // Gives back all blocks of the magazine but `keep`.
    void flush_excess(OwnerIndex o, ClassIndex c, std::uint32_t keep);
    // Before a superblock is made for class `but`: the magazines of the next few others, as a hand goes round, are emptied
    // where nothing happened since the last time and no block is live, so that their superblocks go back and are taken
    // instead of new memory.
    void empty_unused(OwnerIndex o, ClassIndex but);
    // Leaves no slot to the magazines, which are empty, as far as they may be touched.
    void close(OwnerIndex o);
    // The same while the sequences are stopped, whoever's they are.
    void close_stopped(OwnerIndex o);
    // At the next `count` slots of the magazine at most, as a hand goes round; it stays where it suspects.
    void look(OwnerIndex o, ClassIndex c, std::uint32_t count);

  private:
    bool set(OwnerIndex o, ClassIndex c, std::uint32_t capacity);
    void shrink_quiet(OwnerIndex o, ClassIndex but);

    Owners &owners_;
    Returns &returns_;
    const Superblocks &superblocks_;
    const PageHeap &pages_;
    AddressSaving &address_saving_;
};

}  // namespace gr
