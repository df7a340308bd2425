// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: IO-cl of table 3.1 (Wasik 001, 3.2.2.4): IO-c with a free-list buffer for a thread's own blocks.
// Invariant: the buffer holds only blocks of the thread's own heap; what lies there keeps its size and is joined when
//    it is cleared.
// Must not know: how any feature works.
// Finds: by header and trailer a double free, a foreign address, the inside of a block; when it is freed, a write past
//    the block's end.
//
//     threads   T1 --own--> buffer at 64 KiB        no lock
//                  --remote---> their heap          a lock
//     global    whole regions of 64 KiB
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + coalescing + ownership + free_list_buffer>;

}  // namespace gr::lab
