// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Wasik's allocator F2 (001, 5.7), CO-r of table 3.1: E with remote lists on heaps and on the global heap.
// Invariant: only its own thread enters a heap. Other threads leave blocks in the heap's remote lists, which the heap
//    clears when it has no block of a bin.
// Must not know: how any feature works.
// Finds: an address that leads to no container, or is not aligned; a double free where the container has no block in
//    use; a double free by another thread, if at all, when the remote list is cleared.
//
//     threads   T1 --own--> heap                no lock
//                  --remote---> remote list     a lock for each bin
//     heaps     [full] [roomy] [empty] <- cleared <- [remote]
//       global  given -> [empty]
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen =
    Composed<thread_heaps + containers + ownership + restricted_movement + remote_lists + global_remote_list>;

}  // namespace gr::lab
