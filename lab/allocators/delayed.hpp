// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Delayed ownership without reallocation (Wasik 001, 3.1.1.1): F1 whose buffer keeps others' blocks for a
//       while.
// Invariant: others' blocks wait until they take two containers' room, and then go home, one after the other, each under its
//            heap's lock (3.1.1.1 thinks of batches); meanwhile nobody gets them.
// Must not know: how any feature works.
//
//     threads   T1 --own--> buffer
//                  --others'--> waiting         given to their heaps when many
#pragma once

#include "parts/composed.hpp"

namespace gr::lab {

using Chosen =
    Composed<thread_heaps + containers + ownership + restricted_movement + free_list_buffer + delayed_ownership>;

}  // namespace gr::lab
