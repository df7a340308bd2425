// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Delayed ownership with reallocation (Wasik 001, 3.1.1.1): others' blocks in the buffer may be taken again.
// Invariant: a block may be reused by a thread that does not own it: passive false sharing until it goes home.
// Must not know: how any feature works.
//
//     threads   T1 --own--> buffer <--takes
//                  --others'--> waiting <--takes
#pragma once

#include "parts/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + containers + ownership + restricted_movement + free_list_buffer +
                        delayed_ownership + reallocation>;

}  // namespace gr::lab
