// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: D whose heaps end with their threads (Wasik 001, 3.1.1 and 5.5): all containers of a heap go to the global heap
//    then, also those with blocks in use.
// Invariant: as D; the global heap owns the containers of an ended thread's blocks and is locked when these are freed
//    (5.4).
// Must not know: how any feature works.
// Finds: an address that leads to no container, or is not aligned; a double free where the container has no block in
//    use.
// Differs: the heap's own memory stays, for the next thread: a thread that frees may still look at its lock.
//
//     threads   T1 ---free---> T2's heap        T3 ends
//     heaps     [full] [roomy] [empty]           | all
//       global  [full] [partly free] [empty] <---+
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + containers + ownership + destroyed_heaps + locks_of_threads>;

}  // namespace gr::lab
