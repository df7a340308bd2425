// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: IO-c of table 3.1 (Wasik 001, 3.2.2.3): splitting and joining with ownership.
// Invariant: a split block's parts have its owner. So all blocks of a region return to one heap and are joined to one
//    block again; only then the region moves.
// Must not know: how any feature works.
// Finds: by header and trailer a double free, a foreign address, the inside of a block; when it is freed, a write past
//    the block's end.
//
//     threads   T1 --own and remote---> the owner's heap            a lock each
//     heaps     bins of ranges, split on demand     |head|.....|tail|head|..|tail|
//     global    whole regions of 64 KiB
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + coalescing + ownership>;

}  // namespace gr::lab
