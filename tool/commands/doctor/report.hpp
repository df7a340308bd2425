// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a diagnosis and the facts about this machine, as text and as JSON.
// Invariant: the text's first line is the verdict; both forms tell the same.
// Must not know: how anything was found.
#pragma once

#include <string>
#include <vector>

#include "commands/doctor/environment.hpp"
#include "reading/diagnosis/diagnosis.hpp"

namespace gr::tool {

[[nodiscard]] std::string text_report(const Diagnosis &diagnosis, const std::vector<Fact> &facts, bool colour);
[[nodiscard]] std::string json_report(const Diagnosis &diagnosis, const std::vector<Fact> &facts);

// stdout is a terminal that shows colours, and nobody asked for none (NO_COLOR).
[[nodiscard]] bool colour_wanted();

}  // namespace gr::tool
