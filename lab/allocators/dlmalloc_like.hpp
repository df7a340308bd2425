// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Doug Lea's allocator as Wasik has it (001, 4.2): a single heap with boundary tags and best fit, one lock.
// Invariant: the tightest free block is taken. No two neighbours are free. Above 128 KiB a block has a mapping of its
//    own.
// Must not know: how any feature works.
// Finds: by header and trailer a double free, a foreign address, the inside of a block; when it is freed, a write past
//    the block's end.
//
//     threads   T1   T2   T3
//                 \   |   /
//                   lock
//     heap      bins of narrow ranges; the tightest block of the first that has any
//               regions of 1 MiB   |head|.....|tail|head|..|tail|
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<single_heap + coalescing + best_fit>;

}  // namespace gr::lab
