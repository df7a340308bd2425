// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: IN-l of table 3.1 (Wasik 001, 3.2.1.2): B with a free-list buffer, of which the thesis says that it brings
//    nothing.
// Invariant: as in B; a block that a thread freed lies in its buffer first.
// Must not know: how any feature works.
// Finds: by the header a double free, a foreign address, the inside of a block.
// Differs: new objects come from the global heap one by one, as in 5.2; in 3.2.1.1 one thread gets a whole allocation
//    buffer.
//
//     threads   T1       T2
//     buffers   o->o     o->o                   as private as the heap behind it
//     heaps     bins     bins
//                  \     /
//                   lock
//       global      bins, buffer
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + free_list_buffer>;

}  // namespace gr::lab
