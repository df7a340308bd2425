// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a heap whose pointer is dropped can never be destroyed.
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: ignoring return value
#include <granary/granary.h>

#ifdef CONTROL
gr_heap *make() { return gr_heap_new(0); }
#else
void make() { gr_heap_new(0); }
#endif
