// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      the files whose code a running process has mapped, and where.
// Invariant: one for each file and place, its pieces together; what lies no more under its name is marked so.
// Must not know: why it is asked.
#pragma once

#include <vector>

#include "process/code_module.hpp"

namespace gr::tool {

struct LoadedCode {
    CodeModule module;
    bool is_there = false;  // the file of that name is the one that was mapped
};

// Nothing when the process has ended.
[[nodiscard]] std::vector<LoadedCode> loaded_code(int process);

}  // namespace gr::tool
