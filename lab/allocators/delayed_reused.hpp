// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Delayed ownership with reallocation (Wasik 001, 3.1.1.1): others' blocks in the buffer may be taken again. F1
//    but for that, and for its heaps' locks, which are always taken.
// Invariant: a block may be reused by a thread that does not own it: passive false sharing until it goes home, which it
//    does when those of one bin take more than two containers' room.
// Must not know: how any feature works.
// Finds: an address that leads to no container, or is not aligned; when the buffer is emptied, a double free where the
//    container has no block in use.
// Differs: as delayed.
//
//     threads   T1 --own--> buffer <--takes
//                  --others'--> waiting <--takes
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + containers + ownership + restricted_movement + free_list_buffer +
                        delayed_ownership + reallocation>;

}  // namespace gr::lab
