// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Hoard (000, section 3, figure 2): 2P heaps by a hash of the thread, heap 0 behind them, and superblocks that
//    move to it when a heap falls below the emptiness threshold. Blowup is O(1).
// Invariant: u >= a - K * S or u >= (1 - f) * a in heaps 1 to 2P, for each size class.
// Must not know: how any feature works.
// Finds: an address that leads to no superblock, or is not aligned; a double free where the superblock has no block in
//    use.
// Differs: free takes the owner's lock and not the superblock's. u and a count blocks, for each class. malloc, too,
//    moves a superblock to the front of its next group. Heap 0 first gives an empty superblock (e=1); the paper leaves
//    open which.
//
//     hash(thread)     heap 1 ..... heap 2P        one lock each
//                      u, a         u, a           a size class:  [7/8 full] ... [1/8 full] [emptier]   fullest first
//                         \          /
//      crosses f, K: s1 down, at least f empty;  needs one: up
//                        heap 0                    one lock; empty superblocks for any class
//
//     above S/2: mapped alone. GRANARY_LAB="f=1/8,K=0,S=16384,b=1.4,e=0" chooses otherwise (5.5 varies f).
#pragma once

#include "parts/composed/heaps_and_large.hpp"
#include "parts/composed/which_heap.hpp"
#include "parts/hoard/emptiness_heaps.hpp"
#include "parts/memory/options.hpp"

namespace gr::lab {

struct HoardOptions {
    // What the paper measures with (5), and how far it may be chosen otherwise: in parts of 1 the value, the least, the
    // most.
    static constexpr std::array<Option, 5> kTable{{
        {"f", 8, 2, 1, 7, "from 1/8 to 7/8 in eighths"},
        {"K", 1, 4, 0, 1024, "from 0 to 1024"},
        {"S", 1, 8 * kKiB, 4 * kKiB, 64 * kKiB, "a power of two from 4096 to 65536", true},
        {"b", 100, 120, 105, 200, "from 1.05 to 2 in hundredths"},
        {"e", 1, 1, 0, 1, "1: heap 0 gives empty superblocks first; 0: the fullest of the class first"},
    }};
};
inline constexpr unsigned kHeapsPerProcessor = 2;

using Chosen = HeapsAndLarge<EmptinessHeaps<ByThreadHash, kHeapsPerProcessor, HoardOptions>>;

}  // namespace gr::lab
