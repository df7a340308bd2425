// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Delayed ownership without reallocation (Wasik 001, 3.1.1.1): F1 whose buffer keeps others' blocks for a while,
//    and whose heaps' locks are always taken.
// Invariant: others' blocks wait until those of one bin take more than two containers' room. Then those of all bins go
//    home; meanwhile nobody gets them.
// Must not know: how any feature works.
// Finds: an address that leads to no container, or is not aligned; when the buffer is emptied, a double free where the
//    container has no block in use.
// Differs: 3.1.1.1 thinks of batches and of a number of operations; here others' blocks go home by the room that they
//    take, one by one, each under its heap's lock.
//
//     threads   T1 --own--> buffer
//                  --others'--> waiting         given to their heaps when one bin has many
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen =
    Composed<thread_heaps + containers + ownership + restricted_movement + free_list_buffer + delayed_ownership>;

}  // namespace gr::lab
