// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: among blocks that all have the size of their bin none fits best.
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: best_fit needs coalescing
#include "parts/stores/features.hpp"

using namespace gr::lab;

#ifdef CONTROL
static_assert(LegalSum<single_heap + coalescing + best_fit>::kIs);
#else
static_assert(LegalSum<single_heap + best_fit>::kIs);
#endif
