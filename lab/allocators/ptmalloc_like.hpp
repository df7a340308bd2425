// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Ptmalloc as Wasik (001, 4.3) and Hoard (000, 6) have it: private heaps with ownership, dlmalloc-like each.
// Invariant: a block goes back to its heap, which keeps it: blowup in the number of heaps. A thread waits only for a new heap.
// Must not know: how any feature works.
//
//     threads   T1 --allocate--> its last heap, if nobody is in; else another; else a new one
//                  --free--> the heap that the block names          a lock
//     heaps     each dlmalloc-like, regions of 1 MiB of its own
#pragma once

#include "parts/composed.hpp"

namespace gr::lab {

using Chosen = Composed<trylock_heaps + coalescing + best_fit + ownership + no_global_heap>;

}  // namespace gr::lab
