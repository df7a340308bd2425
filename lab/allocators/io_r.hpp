// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: IO-r of table 3.1 (Wasik 001, 3.2.2.5): IO with remote lists, so that heaps need no lock.
// Invariant: only its own thread enters a heap.
// Must not know: how any feature works.
// Finds: by the header a double free, a foreign address, the inside of a block.
//
//     threads   T1 --own--> heap                no lock
//                  --remote---> remote list     a lock for each bin
//       global  given -> bins
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + ownership + remote_lists + global_remote_list>;

}  // namespace gr::lab
