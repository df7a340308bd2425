// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: restartable sequences need the CPU's heap: threads of one hash run on different CPUs at once
//    (parts/lfmalloc/restartable_heaps.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: restartable sequences exclude only threads on the same CPU
#include "parts/lfmalloc/restartable_heaps.hpp"

using namespace gr::lab;

#ifdef CONTROL
RestartableHeaps<ByCpu> heaps;
#else
RestartableHeaps<ByThreadHash> heaps;
#endif
