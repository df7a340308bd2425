// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: phkmalloc as its descriptions have it (Kamp, "Malloc(3) revisited", 1998; what jemalloc's paper measures
//    against): pages, an array that says of each what it is, powers of two with bitmaps apart from blocks; one lock.
// Invariant: a block up to half a page lies in a page of one power of two, a larger one is a run of whole pages. What
//    is free is not touched.
// Must not know: how a part does what it does.
// Finds: by directory and bitmap a double free, a foreign address, the inside of a block; with option a it goes on.
// Differs: pages come from mmap, so the heap grows downwards and the directory has two levels; records of runs and
//    pages lie in pages of their own, not in blocks.
//
//     threads      T1   T2   T3
//                    \   |   /
//                      lock
//     directory    |free|free|first|follow|info|info|...     an entry for each page
//     16 .. 2048   list of pages with free blocks, a bit for each block    |info|o|o|o|..|  up to 64: info inside
//     above        runs of pages: list of free runs by address, first fit, joined; beyond 16 at the heap's end given back
//
// All orders are mirrored, since the heap grows downwards. Records apart from blocks mean that free asks for no block.
// Where there is no memory for a record, a run goes back to the kernel. Alignments above a page, which phkmalloc does
// not have, are runs, too. Options: A H J V X Z < > (parts/phkmalloc/paged_allocator.hpp, parts/memory/malloc_options.hpp). A is the
// default here, and J fills with jemalloc's bytes. Left out are D (a dump), R (realloc is lab/face's, for all
// allocators alike) and U (Linux has no utrace).
#pragma once

#include "parts/phkmalloc/paged_allocator.hpp"

namespace gr::lab {

using Chosen = PagedAllocator;

}  // namespace gr::lab
