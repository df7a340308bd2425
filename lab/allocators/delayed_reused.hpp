// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Delayed ownership with reallocation (Wasik 001, 3.1.1.1): F1 with a buffer that keeps other threads' blocks,
//    which malloc may take again. Heaps' locks are always taken.
// Invariant: A thread may reuse a block that it does not own: passive false sharing. It ends when the block returns to
//    its owner's heap, which happens when the waiting blocks of one bin take more room than two containers have.
// Must not know: how any feature works.
// Finds: an address that leads to no container, or is not aligned; when the buffer is emptied, a double free where the
//    container has no block in use.
// Differs: as delayed.
//
//     threads   T1 --own--> buffer <--takes
//                  --remote---> waiting <--takes
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + containers + ownership + restricted_movement + free_list_buffer +
                        delayed_ownership + reallocation>;

}  // namespace gr::lab
