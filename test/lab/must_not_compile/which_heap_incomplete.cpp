// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a part that says which heap is the caller's also says how many there are (parts/composed/which_heap.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: constraint
#include "parts/lfmalloc/local_heaps.hpp"

using namespace gr::lab;

struct Part {
    static unsigned of_caller(unsigned count);
};

#ifdef CONTROL
LockedHeaps<ByThreadHash> heaps;
#else
LockedHeaps<Part> heaps;
#endif
