// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: LFMalloc by its transactional layer (004, 3.1.4) and commit records (5.1): lfmalloc, whose sequences in
//    assembly are transactions in C++ here: begin, conditional loads, a store of one word or of two.
// Invariant: as lfmalloc. Each transaction announces itself in its CPU's slot, which annuls the one before it. Each
//    step is a restartable sequence that looks at the slot.
// Must not know: how any feature works.
// Finds: as lfmalloc; but not a double free of a block whose first free is announced and not done yet.
// Differs: as lfmalloc. Linux has no upcall, so no flag of a thread is set where others ran on its CPU.
//
//     CPU 0      slot [turn | announced stores]    heap [S online | S | S | ...]
//     CPU 1      slot [turn | announced stores]    heap [S online | S | S | ...]
//                  | begin: does what is announced, takes the next turn
//                  | load, store: only while the turn is still the transaction's
//     global     as lfmalloc
#pragma once

#include "parts/composed/heaps_and_large.hpp"
#include "parts/composed/which_heap.hpp"
#include "parts/lfmalloc/online_superblocks.hpp"
#include "parts/lfmalloc/transactional_heaps.hpp"

namespace gr::lab {

using Chosen = HeapsAndLarge<OnlineSuperblocks<TransactionalHeaps<ByCpu>>>;

}  // namespace gr::lab
