// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the width of each magazine of a heap. A magazine that runs empty or full grows within the budget. A quiet
//    magazine narrows, and is emptied if no block of its class is live. Looks search for pointers to the inside of a
//    block: a flush takes the blocks that were freed last, so such a pointer could stay below them for ever.
// Invariant: under the heap's lock. The header in the slab and the heap's MagazinePolicy agree, and no block is lost
//    when a magazine moves or narrows. A look only suspects: a thread on the slab's CPU may pop the block during the
//    look and free it elsewhere. The flush of the whole magazine decides.
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

    // Widens the magazine of a class that ran empty or full, within the budget, but not in address-saving mode. Returns
    // whether the magazine is wider now.
    bool grow(OwnerIndex o, ClassIndex c);
    // Whether the remote magazine may have slots.
    bool may_gather() const { return !address_saving_.is_on(); }
    // Returns all blocks of the magazine except `keep`.
    void flush_excess(OwnerIndex o, ClassIndex c, std::uint32_t keep);
    // Called before a superblock is made for class `but`. Takes the next few other classes in turn. If nothing happened
    // to a class since its last turn and none of its blocks is live, empties its magazine: then its superblocks are
    // released and serve instead of new memory.
    void empty_unused(OwnerIndex o, ClassIndex but);
    // Sets the capacity of every magazine that the caller may touch to 0. The magazines are empty already.
    void close(OwnerIndex o);
    // Like close, for the slab of any concurrency id, while the sequences are stopped.
    void close_stopped(OwnerIndex o);
    // Checks the next `count` slots of the magazine at most, in rotation. The rotation stops at a slot that is suspect.
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
