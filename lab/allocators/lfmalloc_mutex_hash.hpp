// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the third row of LFMalloc's table 3 (004, 4.3): a mutex for each heap, and the heap by Hoard's hash of the
//    thread, so that the difference to lfmalloc-mutex-cpu is what knowing the CPU brings.
// Invariant: as lfmalloc-mutex-cpu; threads that share a heap share it wherever they run.
// Must not know: how any feature works.
// Finds: an address that leads to no superblock, or is not aligned; a double free where the block lies on top of its
//    local list, or its superblock has none in use.
// Differs: as lfmalloc.
//
//     hash(thread)    heap [lock | S online | S | ...]     as many as CPUs
//     global          as lfmalloc
#pragma once

#include "parts/composed/heaps_and_large.hpp"
#include "parts/composed/which_heap.hpp"
#include "parts/lfmalloc/online_superblocks.hpp"

namespace gr::lab {

using Chosen = HeapsAndLarge<OnlineSuperblocks<LockedHeaps<ByThreadHash>>>;

}  // namespace gr::lab
