// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Hoard 3.6 as Wasik places it (001, 4.4): CO-l, delayed ownership with reallocation, containers move freely.
// Invariant: a thread may take each block again that it freed, its own or another thread's. No heap's lock is taken
//    before there is a second thread.
// Must not know: how any feature works.
// Finds: an address that leads to no container, or is not aligned; when the buffer is emptied, a double free where the
//    container has no block in use.
// Differs: 4.4 gives neither the size of a superblock nor a threshold; here they are D's (5.3, 5.4).
//
//     threads   T1 --all--> buffer <--takes
//     heaps     [full] [roomy] [empty]
//                   |  too much is free
//       global    [partly free] [empty]
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + containers + ownership + free_list_buffer + delayed_ownership + reallocation +
                        locks_of_threads>;

}  // namespace gr::lab
