// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the variables of this process' environment.
// Invariant: the command has one thread, so reading and writing them is safe; nobody else calls getenv.
// Must not know: what any variable means.
#pragma once

#include <optional>
#include <string>

namespace gr::tool {

[[nodiscard]] std::optional<std::string> variable(const char *name);

// Throws std::system_error.
void set_variable(const char *name, const std::string &value);

}  // namespace gr::tool
