// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a thread finds its heap in one way (Wasik 3.1.1).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: choose exactly one of single_heap
#include "parts/stores/features.hpp"

using namespace gr::lab;

#ifdef CONTROL
static_assert(LegalSum<thread_heaps + containers>::kIs);
#else
static_assert(LegalSum<thread_heaps + single_heap>::kIs);
#endif
