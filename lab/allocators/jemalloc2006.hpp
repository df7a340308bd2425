// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: `jemalloc2006`: the first jemalloc (Evans, "A Scalable Concurrent malloc(3) Implementation for FreeBSD", 2006,
//    Algorithms and data structures).
// Invariant: a block is served and freed by the arena whose chunk it lies in, under that arena's lock, whichever thread
//    frees it.
// Must not know: how a part does what it does.
// Finds: by region bitmap, page map and the huge blocks' tree a double free, a foreign address, the inside of a block.
// Differs: no regions below kAlignment, since malloc today aligns a block of any size for the widest type; the paper
//    has 2, 4 and 8 bytes. Where memory is exhausted, chunks kept for their next use go back, then it is tried again.
//
//    thread --in turn, for ever--> one of 4 arenas per CPU (of one CPU: the only one), a lock each
//    arena: chunks of 2 MiB      | header: page map | run | run        | run                      |
//           runs of pages        binary buddies: split in halves, joined with the other half only
//           up to 2 KiB          bins of runs:  | header: region bitmap | region | region | ... |
//                                one current run a bin; else QINIT -> Q0 <-> Q25 <-> Q50 <-> Q75 by fullness
//           up to 1 MiB          a run each
//    above 1 MiB                 chunks of their own, in one red-black tree with one lock
//
// Options: parts/jemalloc/arena_options.hpp, read where the paper says (parts/memory/malloc_options.hpp). A cannot be taken away:
// misuse always ends the program, because parts find it in the middle of a change. U is left out: Linux has no utrace.
// V concerns malloc and calloc, and errno then is ENOMEM as for every nullptr. An arena is a thread's from its first
// call on, also if that is free.
#pragma once

#include "parts/contract/allocator.hpp"
#include "parts/jemalloc/arena.hpp"
#include "parts/jemalloc/arenas_and_huge.hpp"
#include "parts/jemalloc/run_states.hpp"

namespace gr::lab {

using Chosen = ArenasAndHuge<Arena<Quartiles>, RoundRobin, kAlignment>;

}  // namespace gr::lab
