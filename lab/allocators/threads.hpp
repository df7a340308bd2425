// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Wasik's allocator B (001, 5.2), IN of table 3.1: thread heaps before a global heap; objects have no owner.
// Invariant: a heap is one thread's, and taken over by one that starts when its thread has ended (5.2). What is freed
//    goes to the heap of who freed it, so neighbours in a line part (2.3.2).
// Must not know: how any feature works.
// Finds: by the header a double free, a foreign address, the inside of a block.
//
//     threads   T1     T2     T3
//     heaps     bins   bins   bins              no lock: nobody else comes here
//                  \    |    /   one bin above 2 times the size of the largest: half of it goes
//                    lock        all bins together above 64 times: all goes (5.2)
//       global      bins, 128 KiB buffer
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps>;

}  // namespace gr::lab
