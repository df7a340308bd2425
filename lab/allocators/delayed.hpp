// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Delayed ownership without reallocation (Wasik 001, 3.1.1.1): F1 with a buffer that keeps other threads' blocks
//    for a while. Heaps' locks are always taken.
// Invariant: Other threads' blocks wait in the buffer until those of one bin take more room than two containers have.
//    Then those of all bins return to their owners' heaps. No thread can take them while they wait.
// Must not know: how any feature works.
// Finds: an address that leads to no container, or is not aligned; when the buffer is emptied, a double free where the
//    container has no block in use.
// Differs: 3.1.1.1 thinks of batches and of a number of operations. Here other threads' blocks return by the room that
//    they take, one by one, each under its heap's lock.
//
//     threads   T1 --own--> buffer
//                  --remote---> waiting         given to their owners' heaps when one bin has many
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen =
    Composed<thread_heaps + containers + ownership + restricted_movement + free_list_buffer + delayed_ownership>;

}  // namespace gr::lab
