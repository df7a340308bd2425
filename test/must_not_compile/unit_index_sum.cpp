// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a class cannot be added to a place, a count of units can.
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: no matching function|no match for .operator\+|invalid operands
#include "base/units.hpp"

#ifdef CONTROL
gr::UnitIndex sum(gr::UnitIndex a, gr::UnitCount b) { return a + b; }
#else
gr::UnitIndex sum(gr::UnitIndex a, gr::ClassIndex b) { return a + b; }
#endif
