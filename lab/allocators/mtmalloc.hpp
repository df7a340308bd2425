// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: MTmalloc of Solaris as Hoard has it (000, section 6): private heaps with ownership, and each malloc takes the
//    next heap in turn.
// Invariant: a block goes back to the heap that it was allocated from, which keeps it. No thread has a heap of its own.
// Must not know: how any feature works.
// Finds: by the header a double free, a foreign address, the inside of a block.
// Differs: the papers say no more of it than the order of heaps (LFMalloc 004 only measures it). The number of heaps,
//    the sizes, the headers and the limit of 32 KiB for a block in a heap are the lab's.
//
//     threads   T1  T2  T3   --allocate--> nextHeap++        one word that all change
//                            --free--> the heap that the block names
//     heaps     1   2  ...  P                  a lock each, as many as CPUs
//       bins    [16]->o->o   [32]->o   [64]    powers of two, with the header
//       buffer  [======........]               128 KiB, where new objects come from
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<turn_heaps + ownership + no_global_heap + power_of_two_bins>;

}  // namespace gr::lab
