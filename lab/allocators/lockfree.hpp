// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Wasik's allocator H (001, 5.9): F2 without any lock.
// Invariant: remote lists and the global heap change by one compare-and-swap each. No thread waits for a thread that is
//    stopped anywhere.
// Must not know: how any feature works.
// Finds: an address that leads to no container, or is not aligned; a double free where the container has no block in
//    use; a double free by another thread, if at all, when the remote list is cleared.
// Differs: the global heap is one stack of wholly free containers for any bin, so the limit of 5.4 has no meaning.
//
//     threads   T1 --own--> heap                no lock
//                  --remote---> remote list     compare-and-swap; cleared by one exchange
//       global  a stack of empty containers     compare-and-swap with a tag
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + containers + ownership + restricted_movement + remote_lists +
                        global_remote_list + lock_free>;

}  // namespace gr::lab
