// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a quantity does not become an integer by itself.
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: cannot convert|no viable conversion
#include "base/units.hpp"

#ifdef CONTROL
unsigned number(gr::UnitCount units) { return units.value; }
#else
unsigned number(gr::UnitCount units) { return units; }
#endif
