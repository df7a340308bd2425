// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Wasik's allocator D (001, 5.4), CO of table 3.1: C with ownership; free lists in containers, which move.
// Invariant: a block returns to the heap whose container it lies in. A container with blocks in use may move, and then
//    two threads share its lines. No heap's lock is taken before there is a second thread (7.1.2).
// Must not know: how any feature works.
// Finds: an address that leads to no container, or is not aligned; a double free where the container has no block in
//    use.
//
//     threads   T1 ---free---> T2's heap        each heap has a lock
//     heaps     [full] [roomy] [empty] containers of each bin
//                   |  too much is free: containers go, empty ones first
//       global    [partly free] [empty: beyond 128 for any bin]
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + containers + ownership + locks_of_threads>;

}  // namespace gr::lab
