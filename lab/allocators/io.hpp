// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: IO of table 3.1 (Wasik 001, 3.2.2.1): B with ownership: each header names the heap.
// Invariant: a block returns to the heap that it was allocated from, under that heap's lock. A block that was given to
//    the global heap may become another heap's.
// Must not know: how any feature works.
// Finds: by the header a double free, a foreign address, the inside of a block.
//
//     threads   T1 ---free---> T2's heap        each heap has a lock
//     heaps     bins, buffer
//       global    bins
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + ownership>;

}  // namespace gr::lab
