// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Streamflow as Wasik places it (001, 4.5): CO-r, lock-free, headers in a table by page.
// Invariant: a header lies apart from its blocks, so blocks begin at the unit and a write beyond one spoils no header.
// Must not know: how any feature works.
// Finds: an address that leads to no container, or is not aligned; a double free where the container has no block in
//    use; a double free by another thread, if at all, when the remote list is cleared.
// Differs: containers of one size, a table by unit and not by page, and no lock at all, where 4.5 tells it of the
//    remote lists only; the global heap is H's.
//
//     table     [unit] -> header
//     units     [o|o|o|o|o|o|o]                 no header within
//     threads   T1 --remote---> remote list     compare-and-swap
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + containers + header_table + ownership + restricted_movement + remote_lists +
                        global_remote_list + lock_free>;

}  // namespace gr::lab
