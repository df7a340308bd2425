// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: CO-lr: what Wasik recommends (001, 8.3): containers, ownership, restricted movement, buffer and remote lists.
// Invariant: as in F2. A thread takes its own blocks that it freed again from its buffer, and looks at no container.
// Must not know: how any feature works.
// Finds: an address that leads to no container, or is not aligned; when buffer and remote list are cleared, a double
//    free where the container has no block in use.
//
//     threads   T1 --own--> buffer -> heap      no lock
//                  --remote---> remote list     a lock for each bin
//       global  given -> [empty]
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + containers + ownership + restricted_movement + free_list_buffer + remote_lists +
                        global_remote_list>;

}  // namespace gr::lab
