// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Remote lists on container headers (Wasik 001, 3.2.4.3), whose containers move freely.
// Invariant: who frees another's block waits for nobody, and never chases a container that moves. The word `lock_free`
//    is of heaps' lists and the global heap, so it is not needed here.
// Must not know: how any feature works.
// Finds: an address that leads to no container, or is not aligned; a double free where the container has no block in
//    use; one by others, if at all, when the container's list is cleared.
// Differs: in 3.2.4.3 a lock protects each list; here they have none, as any list may (3.2).
//
//     threads   T1 --others'--> [header|remote list|o|o|o|...]
//     heaps     clear the lists of their own containers when a bin has no more
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + containers + ownership + remote_lists_on_containers>;

}  // namespace gr::lab
