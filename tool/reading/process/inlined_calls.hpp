// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the functions that the compiler put into another one at some place of its code, by the debug information.
// Invariant: what a file does not say is empty.
// Must not know: why it is asked.
#pragma once

#include <elfutils/libdwfl.h>

#include <string>
#include <vector>

namespace gr::tool {

struct InlinedCall {
    std::string function;
    std::string file;  // of the source, where it was called
    int line = 0;
};

// The outermost first.
[[nodiscard]] std::vector<InlinedCall> inlined_calls(Dwfl_Module *module, Dwarf_Addr address);

// What is no name of C++'s could be one of its types, and stays as it is.
[[nodiscard]] std::string demangled(const char *name);

}  // namespace gr::tool
