// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: IN-cr of table 3.1 (Wasik 001, 3.2.1.5): IN-c with a remote list on the global heap.
// Invariant: as in IN-c; a thread that gives blocks to the global heap and a thread that takes blocks from it wait for
//    different locks.
// Must not know: how any feature works.
// Finds: by header and trailer a double free, a foreign address, the inside of a block; when it is freed, a write past
//    the block's end.
//
//     heaps     bins of ranges     bins of ranges
//                     gives|         |takes
//                      lock           lock
//     global           given  -->  bins of ranges
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + coalescing + global_remote_list>;

}  // namespace gr::lab
