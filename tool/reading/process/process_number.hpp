// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the number of a process, as it is written on a command line.
// Invariant: what is returned fits the kernel's type; whether there is such a process is not asked.
// Must not know: why it is asked.
#pragma once

#include <optional>
#include <string>

namespace gr::tool {

// Nothing where something else is written. Throws Failure (kNotFound) when it is too large for any process.
[[nodiscard]] std::optional<int> process_number(const std::string &word);

}  // namespace gr::tool
