// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Wasik's allocator F1 (001, 5.6), CO-l of table 3.1: E with a free-list buffer for a thread's own blocks.
// Invariant: the buffer holds only blocks of the thread's own heap (immediate ownership). Other threads' blocks return
//    at once to their owners' heaps, under the heap's lock. No heap's lock is taken before there is a second thread
//    (7.1.2).
// Must not know: how any feature works.
// Finds: an address that leads to no container, or is not aligned; a double free where the container has no block in
//    use, of a thread's own block when the buffer is emptied.
//
//     threads   T1 --own--> buffer              no lock
//                  --remote---> their heap      lock
//     heaps     [full] [roomy] [empty]
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen =
    Composed<thread_heaps + containers + ownership + restricted_movement + free_list_buffer + locks_of_threads>;

}  // namespace gr::lab
