// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Wasik's allocator E (001, 5.5): D whose containers move only when they are wholly free.
// Invariant: a block in use never changes its heap, and no line has blocks of two threads by the allocator's doing. No
//    heap's lock is taken before there is a second thread (7.1.2).
// Must not know: how any feature works.
// Finds: an address that leads to no container, or is not aligned; a double free where the container has no block in
//    use.
//
//     heaps     [full] [roomy] [empty]
//                               |  only these move
//       global                 [empty]
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + containers + ownership + restricted_movement + locks_of_threads>;

}  // namespace gr::lab
