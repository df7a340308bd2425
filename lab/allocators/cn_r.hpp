// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: CN-r of table 3.1 (Wasik 001, 3.2.3.3): C with a remote list on the global heap.
// Invariant: as in C; a thread that gives blocks to the global heap and a thread that takes blocks from it wait for
//    different locks.
// Must not know: how any feature works.
// Finds: an address that leads to no container, or is not aligned. Blocks have no header, so no double free.
//
//     heaps     C's      C's
//              gives|   |takes
//               lock     lock
//       global  given -> bins of objects
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + containers + global_remote_list>;

}  // namespace gr::lab
