// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a block is no heap: the two arguments of gr_heap_free do not change places.
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: invalid conversion from .void\*|no matching function
#include <granary/granary.h>

#ifdef CONTROL
void give(gr_heap *heap, void *block) { gr_heap_free(heap, block); }
#else
void give(gr_heap *heap, void *block) { gr_heap_free(block, heap); }
#endif
