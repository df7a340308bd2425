// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: messages about objects of the debug functions: misuse, and in each collection the live objects behind whose end
//    the program has written.
// Invariant: one line for each object. Nothing is searched before the first such object is made.
// Must not know: how objects are found.
#pragma once

#include "libgc/debug_header.hpp"

namespace gr {

// The line says where the object was allocated, if it has a header.
void complain(const char *function, const void *p, const char *what, const DebugHeader *header);

void look_for_overwritten();
// Called while all threads are stopped, between marking and sweep.
void report_overwritten();

}  // namespace gr
