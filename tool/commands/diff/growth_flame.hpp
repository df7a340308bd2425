// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the call trees of two traces laid over each other, as a flame chart: what grew, and what shrank.
// Invariant: calls are the same if their functions and files are. What grew at a call is what was allocated right
//    there, so what shrank beside it does not hide it. Nothing is lost: a call too small to be shown counts for its
//    caller.
// Must not know: traces.
#pragma once

#include <cstddef>
#include <vector>

#include "commands/diff/program_use.hpp"
#include "reporting/document/document.hpp"

namespace gr::tool {

// Adds the chart's frames to those that are there. Where nothing changed it has no measure.
[[nodiscard]] FlameChart growth_flame(const ProgramUse &before, const ProgramUse &after, std::vector<Frame> *frames);

}  // namespace gr::tool
