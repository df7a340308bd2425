// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a thread's lists are not found by its stack's page: a stack can go to another thread
//    (parts/boehm/lists_of_threads.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: two threads that live at once must not find the same lists
#include "parts/boehm/lists_of_threads.hpp"

using namespace gr::lab;

#ifdef CONTROL
ListsOfThreads<ThreadPointer, Frees::to_local_list> heaps;
#else
ListsOfThreads<StackPage, Frees::to_local_list> heaps;
#endif
