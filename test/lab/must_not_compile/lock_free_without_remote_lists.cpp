// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: without locks others cannot enter a heap (Wasik 5.9).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: lock_free needs remote_lists
#include "parts/stores/features.hpp"

using namespace gr::lab;

#ifdef CONTROL
static_assert(LegalSum<thread_heaps + containers + ownership + restricted_movement + remote_lists + lock_free>::kIs);
#else
static_assert(LegalSum<thread_heaps + containers + ownership + restricted_movement + lock_free>::kIs);
#endif
