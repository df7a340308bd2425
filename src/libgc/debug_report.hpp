// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what is said about objects of the debug functions: how they were misused, and in each collection which of those
//    that live were written behind their end.
// Invariant: a line for each; nothing is looked for before the first such object is made.
// Must not know: how objects are found.
#pragma once

#include "libgc/debug_header.hpp"

namespace gr {

// Where it was allocated is told if there is a header.
void complain(const char *function, const void *p, const char *what, const DebugHeader *header);

void look_for_overwritten();
// While the world is stopped, between marking and sweep.
void report_overwritten();

}  // namespace gr
