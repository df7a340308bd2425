// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Boehm's allocator (002, Parallel allocation) without its collector: each thread's free lists, which begin once
//    it took or freed a page's worth of a size, over global ones under one lock. A list is refilled by a page's worth,
//    built without the lock. What free puts there goes to the global lists in groups, as the paper proposes
//    (Observations).
// Invariant: a thread keeps less than two pages' worth of a size, and nothing before the size's count is one page's
//    worth. A thread's lists are found by the paper's own table, and go to the global lists when it ends.
// Must not know: how a table finds a thread, and what is in a list.
// Finds: an address that leads to no page, or is not aligned. Objects have no header, so no double free.
// Differs: free finds the objects, where in the paper sweeping does; a page keeps its size for ever; a thread is found
//    by the thread pointer, not by its stack; what is larger than half a page is mapped alone.
//
//     threads   T1             T2             the table: thread pointer -> lists
//     local     [list|list|2K] [ 0 |list|1K]  no lock; a size has a list, or a count of bytes below a page's
//                   |  a page's worth  |      one lock: a group, or the list, or a page that is divided outside it
//     global    [list + groups|...]  pages of one size each, from the kernel, for ever
//
// In the paper sweeping finds empty pages, too, and pages are joined for large objects. It measures with the upper bits
// of the stack pointer as the quick id, which a malloc cannot trust (thread_table.hpp).
#pragma once

#include "parts/boehm/lists_of_threads.hpp"
#include "parts/composed/heaps_and_large.hpp"

namespace gr::lab {

using Chosen = HeapsAndLarge<ListsOfThreads<ThreadPointer, Frees::to_local_list>>;

}  // namespace gr::lab
