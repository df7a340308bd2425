// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a search tree finds the best fit, and its heap gives nothing to others.
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: search_tree needs best_fit and single_heap
#include "parts/stores/features.hpp"

using namespace gr::lab;

#ifdef CONTROL
static_assert(LegalSum<single_heap + coalescing + best_fit + search_tree>::kIs);
#else
static_assert(LegalSum<thread_heaps + coalescing + best_fit + search_tree>::kIs);
#endif
