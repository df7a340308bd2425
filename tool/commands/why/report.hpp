// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: why a process' resident set is as large as it is, as text and as JSON.
// Invariant: both forms tell the same; the shares of the text are in the order of the explanation's.
// Must not know: how anything was found.
#pragma once

#include <string>

#include "commands/why/why.hpp"

namespace gr::tool {

[[nodiscard]] std::string why_text(const Explanation &explanation);
[[nodiscard]] std::string why_json(const Explanation &explanation);

}  // namespace gr::tool
