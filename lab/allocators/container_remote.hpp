// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Remote lists on container headers (Wasik 001, 3.2.4.3). Containers move freely between heaps.
// Invariant: A thread that frees another thread's block waits for no thread. It finds the remote list in the block's
//    container, so the list is the right one even while the container moves. `lock_free` is about the lists of heaps
//    and about the global heap, so it is not in the sum.
// Must not know: how any feature works.
// Finds: an address that leads to no container, or is not aligned; a double free where the container has no block in
//    use; a double free by another thread, if at all, when the container's list is cleared.
// Differs: in 3.2.4.3 a lock protects each list; here they have none, as any list may (3.2).
//
//     threads   T1 --remote---> [header|remote list|o|o|o|...]
//     heaps     clear the lists of their own containers when a bin has no more
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + containers + ownership + remote_lists_on_containers>;

}  // namespace gr::lab
