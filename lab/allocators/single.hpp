// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Wasik's allocator A, the base case (001, 5.1): one heap behind one lock.
// Invariant: one thread is in the heap, whose lock is not taken before there is a second one. The largest bin is 32 KiB
//    less the header; above it a block has a mapping of its own (5.1).
// Must not know: how any feature works.
// Finds: by the header a double free, a foreign address, the inside of a block.
// Differs: 7.1.2 says of the locks of D and E only that a single thread does not take them. Here it does not take this
//    one, either, so that with one thread ratios to A show what D and E do, and not their kind of lock.
//
//     threads   T1  T2  T3
//                 \  |  /
//                  lock
//       bins    [16]->o->o   [32]->o   ...      a free list for each
//       buffer  [======........]                128 KiB, where new objects come from
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<single_heap + locks_of_threads>;

}  // namespace gr::lab
