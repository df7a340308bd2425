// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Wasik's allocator B (001, 5.2), IN of table 3.1: thread heaps before a global heap; objects have no owner.
// Invariant: a heap is one thread's. When the thread has ended, a thread that starts takes the heap over (5.2). A freed
//    block goes to the heap of the thread that freed it, so blocks of one cache line come to several threads (2.3.2).
// Must not know: how any feature works.
// Finds: by the header a double free, a foreign address, the inside of a block.
//
//     threads   T1     T2     T3
//     heaps     bins   bins   bins              no lock: no other thread enters
//                  \    |    /   one bin above 2 times the size of the largest: half of it goes
//                    lock        all bins together above 64 times: all goes (5.2)
//       global      bins, 128 KiB buffer
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps>;

}  // namespace gr::lab
