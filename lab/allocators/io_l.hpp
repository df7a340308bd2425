// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: IO-l of table 3.1 (Wasik 001, 3.2.2.2): IO with a free-list buffer for a thread's own blocks.
// Invariant: the buffer holds only blocks of the thread's own heap.
// Must not know: how any feature works.
// Finds: by the header a double free, a foreign address, the inside of a block.
//
//     threads   T1 --own--> buffer              no lock
//                  --remote---> their heap      lock
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + ownership + free_list_buffer>;

}  // namespace gr::lab
