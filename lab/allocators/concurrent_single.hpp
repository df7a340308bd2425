// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: A concurrent single heap (Hoard 000, 6.1), in our simplification: one heap, a list with a lock for each bin.
// Invariant: threads wait for each other only where they ask for the same bin; neighbours in a line belong to anyone.
// Must not know: how any feature works.
// Finds: by the header a double free, a foreign address, the inside of a block.
// Differs: 6.1 has concurrent B-trees, or free lists with a lock on each free block; here each bin is a list with one
//    lock.
//
//     threads   T1   T2   T3
//                |     \ /
//     bins     [16]   [32]   [48] ...           a lock, a list and a buffer each
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<single_heap + locks_per_bin>;

}  // namespace gr::lab
