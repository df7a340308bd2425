// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what could be done about the resident set of a process.
// Invariant: a hint names the number it rests on, and what is small has none.
// Must not know: how anything was found, or is printed.
#pragma once

#include <string>
#include <vector>

#include "commands/why/why.hpp"

namespace gr::tool {

[[nodiscard]] std::vector<std::string> hints_about(const Explanation &explanation);

}  // namespace gr::tool
