// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: an integer does not become a quantity by itself.
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: could not convert|no viable conversion
#include "base/units.hpp"

#ifdef CONTROL
gr::UnitCount units() { return gr::UnitCount(3U); }
#else
gr::UnitCount units() { return 3U; }
#endif
