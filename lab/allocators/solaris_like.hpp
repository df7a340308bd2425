// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: The default malloc of Solaris as Wasik has it (001, 4.1): a single heap, one lock, free blocks in a search tree
//    by size, which are split and coalesced.
// Invariant: the tightest free block is taken, of several that with the lowest address. No two neighbours are free.
// Must not know: how any feature works.
// Finds: by header and trailer a double free, a foreign address, the inside of a block; when it is freed, a write past
//    the block's end.
// Differs: the tree is red-black; the thesis says only that it is binary.
//
//     threads   T1   T2   T3
//                 \   |   /
//                   lock
//     heap      a tree of all free blocks by size and address, its nodes in the blocks
//               regions of 1 MiB   |head|.....|tail|head|..|tail|
//
// It is dlmalloc-like with a tree in place of bins: a search takes a logarithm of the number of free blocks, and the
// smallest block is larger, since a node is. The boundary tags, the regions and a mapping for each block above 128 KiB
// are dlmalloc-like's.
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<single_heap + coalescing + best_fit + search_tree>;

}  // namespace gr::lab
