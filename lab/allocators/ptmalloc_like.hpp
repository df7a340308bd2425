// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Ptmalloc as Wasik (001, 4.3) and Hoard (000, 6) have it: private heaps with ownership, dlmalloc-like each.
// Invariant: a block returns to the heap that its header names, which keeps it: blowup in the number of heaps. A thread
//    that allocates passes over heaps whose locks are taken, as long as there is memory for another heap. A thread that
//    frees waits for the lock of the block's heap.
// Must not know: how any feature works.
// Finds: by header and trailer a double free, a foreign address, the inside of a block; when it is freed, a write past
//    the block's end.
//
//     threads   T1 --allocate--> its last heap, if the lock is free; else another; else a new one
//                  --free--> the heap that the block names          its lock
//     heaps     each dlmalloc-like, regions of 1 MiB of its own
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<trylock_heaps + coalescing + best_fit + ownership + no_global_heap>;

}  // namespace gr::lab
