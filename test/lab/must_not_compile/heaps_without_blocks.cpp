// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: heaps that do not say what their blocks are have no large ones beside them (parts/composed/heaps_and_large.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: constraint
#include "parts/composed/heaps_and_large.hpp"
#include "parts/lfmalloc/online_superblocks.hpp"

using namespace gr::lab;

#ifdef CONTROL
HeapsAndLarge<OnlineSuperblocks<LockedHeaps<ByCpu>>> allocator;
#else
HeapsAndLarge<LockedHeaps<ByCpu>> allocator;
#endif
