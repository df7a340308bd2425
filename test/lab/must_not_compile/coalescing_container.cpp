// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a container's blocks cannot be split or joined (Wasik 3.2).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: all blocks of a container have one size
#include "parts/stores/features.hpp"

using namespace gr::lab;

#ifdef CONTROL
static_assert(LegalSum<thread_heaps + coalescing>::kIs);
#else
static_assert(LegalSum<thread_heaps + coalescing + containers>::kIs);
#endif
