// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the second row of LFMalloc's table 3 (004, 4.3): LFMalloc with a mutex for each CPU's heap instead of
//    sequences, so that the difference is what they bring.
// Invariant: as lfmalloc. A thread chooses the heap of the CPU on which it runs, and changes the heap with its lock
//    held. It may have moved to another CPU meanwhile.
// Must not know: how any feature works.
// Finds: an address that leads to no superblock, or is not aligned; a double free where the block lies on top of its
//    local list, or its superblock has none in use.
// Differs: as lfmalloc.
//
//     CPU 0      heap [lock | S online | S | ...]      S: local list   <- the heap's lock
//     CPU 1      heap [lock | S online | S | ...]         remote list  <- the superblock's lock
//     global     as lfmalloc
#pragma once

#include "parts/composed/heaps_and_large.hpp"
#include "parts/composed/which_heap.hpp"
#include "parts/lfmalloc/online_superblocks.hpp"

namespace gr::lab {

using Chosen = HeapsAndLarge<OnlineSuperblocks<LockedHeaps<ByCpu>>>;

}  // namespace gr::lab
