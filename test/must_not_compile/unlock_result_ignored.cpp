// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a thread that unlocks an owner settles what came for it meanwhile (rule 3), so it must look at the answer.
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: ignoring return value
#include "heap/owners.hpp"

#ifdef CONTROL
bool let_go(gr::Owners &owners) { return owners.unlock(gr::kNobody); }
#else
void let_go(gr::Owners &owners) { owners.unlock(gr::kNobody); }
#endif
