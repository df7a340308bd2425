// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what Wasik recommends for IO-clr (001, 7.4): the remote list is cleared into the buffer, not joined at once.
// Invariant: as in coalescing. Blocks that other threads freed keep their size for a while, too: the workload Consume
//    asks for the same sizes again.
// Must not know: how any feature works.
// Finds: by header and trailer a double free, a foreign address, the inside of a block; when it is freed, a write past
//    the block's end.
// Differs: as coalescing.
//
//     threads   T1 --own--> buffer at 64 KiB --joined--> heap      no lock
//                              ^ cleared
//                  --remote---> remote list                         a lock
//     global    whole regions of 64 KiB
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + coalescing + ownership + free_list_buffer + remote_lists + cleared_into_buffer>;

}  // namespace gr::lab
