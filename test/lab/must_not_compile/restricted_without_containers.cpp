// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what moves wholly free or not is a container (Wasik 3.1.2.1).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: restricted_movement needs containers
#include "parts/stores/features.hpp"

using namespace gr::lab;

#ifdef CONTROL
static_assert(LegalSum<thread_heaps + containers + ownership + restricted_movement>::kIs);
#else
static_assert(LegalSum<thread_heaps + ownership + restricted_movement>::kIs);
#endif
