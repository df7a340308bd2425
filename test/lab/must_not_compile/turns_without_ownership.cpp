// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a free takes no turn: it goes to the owner.
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: turn_heaps needs ownership
#include "parts/stores/features.hpp"

using namespace gr::lab;

#ifdef CONTROL
static_assert(LegalSum<turn_heaps + ownership>::kIs);
#else
static_assert(LegalSum<turn_heaps + no_global_heap>::kIs);
#endif
