// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: LFMalloc (004, 3.2): a heap for each CPU, in it one superblock of 64 KiB online for each size class, its local list
//       used by restartable sequences: no lock and no atomic operation while threads free on the CPU where they allocate.
// Invariant: a CPU's heap is changed by who runs on that CPU. Without rseq this is lfmalloc-mutex-cpu. Finds of misuse: an
//            address that leads to no superblock, a block that lies on top of its list, one of a superblock with none in use.
//            Superblocks are found by the address (5.1, the paper's next step), so blocks have no header of 8 bytes.
// Must not know: how any feature works.
//
//     CPU 0      heap [S online | S | S | ...]     S: local list   <- sequence: pop, push, install
//     CPU 1      heap [S online | S | S | ...]        remote list  <- lock: frees from other CPUs
//                          | used up: offline, another online
//     global     roomy by class | wholly free, for any class -> beyond a limit given back        one lock
#pragma once

#include "parts/heaps_and_large.hpp"
#include "parts/online_superblocks.hpp"
#include "parts/restartable_heaps.hpp"
#include "parts/which_heap.hpp"

namespace gr::lab {

using Chosen = HeapsAndLarge<OnlineSuperblocks<RestartableHeaps<ByCpu>>>;

}  // namespace gr::lab
