// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Hoard (000, section 3, figure 2): 2P heaps by a hash of the thread, heap 0 behind them, and superblocks that move to
//       it when a heap falls below the emptiness threshold. Blowup is O(1).
// Invariant: u >= a - K * S or u >= (1 - f) * a in heaps 1 to 2P, for each size class. Finds of misuse: an address that leads to
//            no superblock, and a block of a superblock that has none in use.
// Must not know: how any feature works.
//
//     hash(thread)     heap 1 ..... heap 2P        one lock each
//                      u, a         u, a           a size class:  [7/8 full] ... [1/8 full] [emptier]   fullest first
//                         \          /
//      crosses f, K: s1 down, at least f empty;  needs one: up
//                        heap 0                    one lock; empty superblocks for any class
//
//     above S/2: mapped alone. GRANARY_LAB="f=1/8,K=0,S=16384,b=1.4" chooses otherwise (5.5 varies f).
#pragma once

#include "parts/contained.hpp"
#include "parts/emptiness_heaps.hpp"
#include "parts/options.hpp"
#include "parts/which_heap.hpp"

namespace gr::lab {

struct HoardOptions {
    // What the paper measures with (5), and how far it may be chosen otherwise.
    static constexpr std::array<Option, 4> kTable{{
        {.name = "f", .parts = 8, .value = 2, .least = 1, .most = 7},
        {.name = "K", .parts = 1, .value = 4, .least = 0, .most = 1024},
        {.name = "S", .parts = 1, .value = 8 * kKiB, .least = 4 * kKiB, .most = 64 * kKiB, .is_power_of_two = true},
        {.name = "b", .parts = 100, .value = 120, .least = 105, .most = 200},
    }};
};
inline constexpr unsigned kHeapsPerProcessor = 2;

using Chosen = Contained<EmptinessHeaps<ByThreadHash, kHeapsPerProcessor, HoardOptions>>;

}  // namespace gr::lab
