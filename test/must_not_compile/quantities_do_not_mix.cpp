// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a class index is not a block index.
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: no match for .operator==|invalid operands to binary expression
#include "base/units.hpp"

#ifdef CONTROL
bool same(gr::ClassIndex a, gr::ClassIndex b) { return a == b; }
#else
bool same(gr::ClassIndex a, gr::BlockIndex b) { return a == b; }
#endif
