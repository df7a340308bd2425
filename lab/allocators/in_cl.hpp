// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: IN-cl of table 3.1 (Wasik 001, 3.2.1.4): IN-c with a free-list buffer, which puts off joining.
// Invariant: as in IN-c; what lies in a buffer keeps its size and is joined when the buffer is cleared.
// Must not know: how any feature works.
// Finds: by header and trailer a double free, a foreign address, the inside of a block; when it is freed, a write past
//    the block's end.
//
//     buffers   at 64 KiB          at 64 KiB
//     heaps     bins of ranges     bins of ranges   no lock
//                       \           /
//                           lock
//     global    bins of ranges
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + coalescing + free_list_buffer>;

}  // namespace gr::lab
