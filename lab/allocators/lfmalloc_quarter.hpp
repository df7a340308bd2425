// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: LFMalloc (004, 3.2.3) whose superblocks go online again only when a quarter of their blocks is free, not with
//    the first, so that the difference to lfmalloc is what that choice costs.
// Invariant: as lfmalloc. A superblock that is offline with less room is in no list, and malloc takes no block of it.
// Must not know: how any feature works.
// Finds: an address that leads to no superblock, or is not aligned; a double free where the block lies on top of its
//    local list, or its superblock has none in use.
// Differs: 3.2.3, line 17 takes any superblock that is not full; else as lfmalloc.
//
//     CPU 0      heap [S online | S | ...]         as lfmalloc
//     CPU 1      heap [S online | S | ...]
//     global     a quarter free, by class | wholly free | in no list: all others
#pragma once

#include "parts/composed/heaps_and_large.hpp"
#include "parts/composed/which_heap.hpp"
#include "parts/lfmalloc/online_superblocks.hpp"
#include "parts/lfmalloc/restartable_heaps.hpp"

namespace gr::lab {

using Chosen = HeapsAndLarge<OnlineSuperblocks<RestartableHeaps<ByCpu>, RoomToGoOnline::a_quarter>>;

}  // namespace gr::lab
