// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: transactions need the CPU's heap: threads of one hash run on different CPUs at once
//    (parts/lfmalloc/transactional_heaps.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: transactions exclude only threads on the same CPU
#include "parts/lfmalloc/transactional_heaps.hpp"

using namespace gr::lab;

#ifdef CONTROL
TransactionalHeaps<ByCpu> heaps;
#else
TransactionalHeaps<ByThreadHash> heaps;
#endif
