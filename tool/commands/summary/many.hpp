// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what several traces show, one beside the other: a row for each, the one with the highest peak first.
// Invariant: each trace is read and closed before the next.
// Must not know: how a document is printed.
#pragma once

#include <string>
#include <vector>

#include "reporting/document/document.hpp"

namespace gr::tool {

[[nodiscard]] Document summary_of(const std::vector<std::string> &files);

}  // namespace gr::tool
