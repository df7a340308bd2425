// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: bins of powers of two are those of objects with headers.
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: power_of_two_bins needs headers of objects
#include "parts/stores/features.hpp"

using namespace gr::lab;

#ifdef CONTROL
static_assert(LegalSum<thread_heaps + power_of_two_bins>::kIs);
#else
static_assert(LegalSum<thread_heaps + containers + power_of_two_bins>::kIs);
#endif
