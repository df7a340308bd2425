// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a trace as lines for flame graph tools: "main;f;g 4096", the outermost call first.
// Invariant: a stack has one line, and a semicolon in a name is none of the line's.
// Must not know: how flames are drawn.
#pragma once

#include <string>
#include <vector>

#include "commands/export/request.hpp"
#include "commands/export/sink.hpp"
#include "reading/symbols/calls.hpp"
#include "reading/trace/reader.hpp"

namespace gr::tool {

void write_folded(const trace::Trace &trace, Calls &calls, const What &what, Sink &sink);

// Joined as above.
[[nodiscard]] std::string folded_stack(const std::vector<const Call *> &calls);

}  // namespace gr::tool
