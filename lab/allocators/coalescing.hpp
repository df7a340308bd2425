// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Wasik's coalescing allocator (001, 5.10), IO-clr of table 3.1, recommended where memory is scarce (8.3).
// Invariant: all blocks of a region of 64 KiB are one heap's, and it goes to the global heap when they are one free
//    block.
// Must not know: how any feature works.
// Finds: by header and trailer a double free, a foreign address, the inside of a block; when it is freed, a write past
//    the block's end.
// Differs: a block of the request's own bin is split, too, if the rest can be a block; 5.10 gives it away whole.
//
//     threads   T1 --own--> buffer at 64 KiB --joined--> heap      no lock
//                  --remote---> remote list --joined--> heap        a lock
//     heaps     bins of ranges, split on demand     |head|.....|tail|head|..|tail|
//     global    whole regions of 64 KiB
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + coalescing + ownership + free_list_buffer + remote_lists>;

}  // namespace gr::lab
