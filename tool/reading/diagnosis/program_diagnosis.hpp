// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: whether a program can run on Granary by preload.
// Invariant: nothing of what is examined is run.
// Must not know: how a diagnosis is shown.
#pragma once

#include <string>

#include "reading/diagnosis/diagnosis.hpp"

namespace gr::tool {

enum class Depth {
    program,    // the program's own file: enough for a warning before it starts
    libraries,  // its libraries too
};

// Throws Failure (kNotFound) when there is no such program. Whatever else is wrong with it is a finding.
[[nodiscard]] Diagnosis diagnose_program(const std::string &name, Depth depth);

}  // namespace gr::tool
