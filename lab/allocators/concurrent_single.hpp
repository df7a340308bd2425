// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: A concurrent single heap (Hoard 000, 6.1): one heap, a lock for each bin.
// Invariant: threads wait for each other only where they ask for the same bin; neighbours in a line belong to anyone.
// Must not know: how any feature works.
//
//     threads   T1   T2   T3
//                |     \ /
//     bins     [16]   [32]   [48] ...           a lock, a list and a buffer each
#pragma once

#include "parts/composed.hpp"

namespace gr::lab {

using Chosen = Composed<single_heap + locks_per_bin>;

}  // namespace gr::lab
