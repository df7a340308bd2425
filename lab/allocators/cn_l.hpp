// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: CN-l of table 3.1 (Wasik 001, 3.2.3.2): C with a free-list buffer, of which the thesis says that it brings
//    nothing.
// Invariant: as in C; a block that a thread freed lies in its buffer first.
// Must not know: how any feature works.
// Finds: an address that leads to no container, or is not aligned. Blocks have no header, so no double free.
//
//     buffers   o->o     o->o
//     heaps     C's      C's
//                  \     /
//       global    bins of objects
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + containers + free_list_buffer>;

}  // namespace gr::lab
