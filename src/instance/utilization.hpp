// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how full the superblock of a block is, compared with the others of its class, and whether moving the block away
//    helps.
// Invariant: takes no lock and changes nothing; its cost does not grow with the heap.
// Must not know: who moves blocks, and when.
#pragma once

#include "granary/granary.h"
#include "instance/instance.hpp"

namespace gr {

// false: p is no block that is in use; *out is as it was.
bool find_utilization(const Instance &allocator, const void *p, gr_utilization *out);

}  // namespace gr
