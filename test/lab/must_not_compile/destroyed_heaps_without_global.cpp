// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a heap that ends gives what it has to the global heap (Wasik 3.1.1).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: destroyed_heaps needs thread_heaps and a global heap
#include "parts/stores/features.hpp"

using namespace gr::lab;

#ifdef CONTROL
static_assert(LegalSum<thread_heaps + destroyed_heaps>::kIs);
#else
static_assert(LegalSum<thread_heaps + no_global_heap + destroyed_heaps>::kIs);
#endif
