// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: IO-cr of table 3.1 (Wasik 001, 3.2.2.5): IO-c with remote lists, so that heaps need no lock.
// Invariant: only its own thread enters a heap. The thread joins blocks that other threads freed when nothing else
//    fits.
// Must not know: how any feature works.
// Finds: by header and trailer a double free, a foreign address, the inside of a block; when it is freed, a write past
//    the block's end.
//
//     threads   T1 --own--> heap                    no lock
//                  --remote---> remote list         a lock
//     global    given -> whole regions of 64 KiB
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + coalescing + ownership + remote_lists + global_remote_list>;

}  // namespace gr::lab
