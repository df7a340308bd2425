// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: IN-cr of table 3.1 (Wasik 001, 3.2.1.5): IN-c with a remote list on the global heap.
// Invariant: as in IN-c; who gives to the global heap and who takes from it wait for different locks.
// Must not know: how any feature works.
//
//     heaps     bins of ranges     bins of ranges
//                     gives|         |takes
//                      lock           lock
//     global           given  -->  bins of ranges
#pragma once

#include "parts/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + coalescing + global_remote_list>;

}  // namespace gr::lab
