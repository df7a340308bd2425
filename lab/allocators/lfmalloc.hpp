// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: LFMalloc (004, 3.2): a heap for each CPU, in it one superblock of 64 KiB online for each size class, its local
//    list used by restartable sequences: no lock and no atomic operation while malloc finds room in what is online and
//    free gives it a block of its own. A block of any other superblock goes to that one's remote list, under its lock
//    (3.2.3).
// Invariant: a CPU's heap is changed by threads on that CPU alone. Without rseq this is lfmalloc-mutex-cpu.
// Must not know: how any feature works.
// Finds: an address that leads to no superblock, or is not aligned; a double free where the block lies on top of its
//    local list, or its superblock has none in use.
// Differs: superblocks are found by the address (5.1), so blocks have no header of 8 bytes. To find a double free, free
//    reads the local list's word, which another CPU may be writing.
//
//     CPU 0      heap [S online | S | S | ...]     S: local list   <- sequence: pop, push, install
//     CPU 1      heap [S online | S | S | ...]        remote list  <- its lock: frees from other CPUs, or while offline
//                          | used up: offline, another online
//     global     roomy by class | wholly free, for any class -> beyond a limit given back        one lock
#pragma once

#include "parts/composed/heaps_and_large.hpp"
#include "parts/composed/which_heap.hpp"
#include "parts/lfmalloc/online_superblocks.hpp"
#include "parts/lfmalloc/restartable_heaps.hpp"

namespace gr::lab {

using Chosen = HeapsAndLarge<OnlineSuperblocks<RestartableHeaps<ByCpu>>>;

}  // namespace gr::lab
