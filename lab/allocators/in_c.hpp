// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: IN-c of table 3.1 (Wasik 001, 3.2.1.3): B with exact sizes that are split and joined.
// Invariant: only blocks that are free in the same heap are joined, so a region that several threads free into stays in
//    parts.
// Must not know: how any feature works.
// Finds: by header and trailer a double free, a foreign address, the inside of a block; when it is freed, a write past
//    the block's end.
//
//     heaps     bins of ranges     bins of ranges   no lock
//                       \           /
//                           lock
//     global    bins of ranges, joined with what came before
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + coalescing>;

}  // namespace gr::lab
