// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a page has a number (parts/jemalloc/buddy_runs.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: a page.s number has 31 bits
#include "parts/jemalloc/buddy_runs.hpp"

using namespace gr::lab;

#ifdef CONTROL
BuddyRuns<30> runs;
#else
BuddyRuns<31> runs;
#endif
