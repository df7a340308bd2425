// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a chunk's shape is no number of bytes (parts/jemalloc/chunk.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: invalid initialization|could not bind|no matching function|cannot convert
#include "parts/jemalloc/huge_blocks.hpp"

using namespace gr::lab;

#ifdef CONTROL
void *get(HugeBlocks &huge, ChunkShape chunk) { return huge.allocate(1, 1, chunk); }
#else
void *get(HugeBlocks &huge, unsigned chunk) { return huge.allocate(1, 1, chunk); }
#endif
