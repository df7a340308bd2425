// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Wasik's allocator C (001, 5.3), CN of table 3.1: B with objects in containers of 64 KiB.
// Invariant: a container has blocks of one size, and all are first given to one thread. A freed block lies in a list of
//    the thread that freed it, whichever container it is of.
// Must not know: how any feature works.
// Finds: an address that leads to no container, or is not aligned. Blocks have no header, so no double free.
//
//     heaps     bins of objects, and for each bin the newest container
//               [header|o|o|o|o|.......]        the unused end is the allocation buffer
//                  \     /
//                   lock
//       global    bins of objects
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + containers>;

}  // namespace gr::lab
