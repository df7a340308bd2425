// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the functions that the compiler put into another one at some place of its code, by the debug information.
// Invariant: what a file does not say is empty. Names are those of the linker where there are such.
// Must not know: how the unit was found.
#pragma once

#include <string>
#include <vector>

#include "reading/process/debug_units.hpp"

namespace gr::tool {

struct InlinedCall {
    std::string function;
    SourceLine caller;  // where it was called
};

// The outermost first.
[[nodiscard]] std::vector<InlinedCall> inlined_calls(DebugUnit &unit, Dwarf_Addr address);

// Of the function whose code lies there; empty: not known.
[[nodiscard]] std::string described_function(DebugUnit &unit, Dwarf_Addr address);

}  // namespace gr::tool
