// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: B whose heaps end with their threads (Wasik 001, 3.1.1, the option that 5.2 does not take): what is free in a
//    heap goes to the global heap then.
// Invariant: when a thread has ended, any thread may take what it freed; and a thread begins with an empty heap.
// Must not know: how any feature works.
// Finds: by the header a double free, a foreign address, the inside of a block.
// Differs: the heap's own memory stays, for the next thread.
//
//     threads   T1     T2     T3 ends
//     heaps     bins   bins    |                no lock
//                  \    |      | all
//                    lock <----+
//       global      bins, 128 KiB buffer
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + destroyed_heaps>;

}  // namespace gr::lab
