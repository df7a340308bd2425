// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Boehm's allocator (002, Parallel allocation) with the explicit free of its collector's library, which puts each
//    object into the global list, with a lock: what the paper says that explicit allocators pay (Observations).
// Invariant: a thread's lists are filled by a page's worth only: less than one is free in each.
// Must not know: how a table finds a thread, and what is in a list.
// Finds: an address that leads to no page, or is not aligned. Objects have no header, so no double free.
// Differs: as boehm.
//
//     threads   T1             T2
//     local     [list|list|2K] [ 0 |list|1K]
//                   ^                  |  free: a lock for each object
//     global    [list + groups|...]  <-
#pragma once

#include "parts/boehm/lists_of_threads.hpp"
#include "parts/composed/heaps_and_large.hpp"

namespace gr::lab {

using Chosen = HeapsAndLarge<ListsOfThreads<ThreadPointer, Frees::to_global_list>>;

}  // namespace gr::lab
