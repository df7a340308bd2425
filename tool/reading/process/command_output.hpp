// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a command writes, run to its end.
// Invariant: it is a file, not searched for; nothing that it writes gets onto this process' own output.
// Must not know: what is run, and what for.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gr::tool {

// What it writes to that descriptor, standard output or standard error, given these variables (NAME=VALUE) and no
// others; nothing unless it exits with 0.
[[nodiscard]] std::optional<std::string> output_of(const std::vector<std::string> &command,
                                                   const std::vector<std::string> &variables, int descriptor);

}  // namespace gr::tool
