// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how wide each magazine of a heap is: wider where it runs empty or full, within the budget; narrower where nothing
//       happens.
// Invariant: under the heap's lock; the header in the slab and the heap's MagazinePolicy say the same, and no block is
//            lost when a magazine moves or narrows.
// Must not know: why a magazine ran empty or full.
#pragma once

#include "heap/returns.hpp"

namespace gr {

class Capacities {
  public:
    constexpr Capacities(Owners &owners, Returns &returns) : owners_(owners), returns_(returns) {}

    // Widens the magazine of a class that ran empty or full, within the budget. true: it is wider now.
    bool grow(OwnerIndex o, ClassIndex c);
    // Gives back all blocks of the magazine but `keep`.
    void flush_excess(OwnerIndex o, ClassIndex c, std::uint32_t keep);

  private:
    bool set(OwnerIndex o, ClassIndex c, std::uint32_t capacity);
    void shrink_quiet(OwnerIndex o, ClassIndex but);

    Owners &owners_;
    Returns &returns_;
};

}  // namespace gr
