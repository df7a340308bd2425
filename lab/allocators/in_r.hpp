// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: IN-r of table 3.1 (Wasik 001, 3.2.1.5): B with a remote list on the global heap.
// Invariant: as in B; a thread that gives blocks to the global heap and a thread that takes blocks from it wait for
//    different locks.
// Must not know: how any feature works.
// Finds: by the header a double free, a foreign address, the inside of a block.
// Differs: new objects come from the global heap one by one, as in 5.2; in 3.2.1.1 one thread gets a whole allocation
//    buffer.
//
//     heaps     bins     bins
//              gives|   |takes
//               lock     lock
//       global  given -> bins, buffer
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + global_remote_list>;

}  // namespace gr::lab
