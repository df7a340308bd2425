// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Pure private heaps (Hoard 000, 6.1): a heap for each thread and nothing behind it.
// Invariant: a block stays in the heap of the thread that freed it, so a producer and a consumer take memory without
//    bound (blowup).
// Must not know: how any feature works.
// Finds: by the header a double free, a foreign address, the inside of a block.
//
//     threads   T1        T2
//     heaps     bins      bins                  what T2 frees T1 never sees again
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + no_global_heap>;

}  // namespace gr::lab
