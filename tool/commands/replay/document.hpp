// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a trace took on several allocators, as a report: its sections ask how long, how much, and how full.
// Invariant: the numbers are those of comparison.hpp. Time runs in operations, for a replay has no pauses.
// Must not know: how it was measured; how a chart looks.
#pragma once

#include <vector>

#include "commands/replay/comparison.hpp"
#include "reporting/document/document.hpp"

namespace gr::tool {

[[nodiscard]] Document document_of(const trace::Trace &trace, const Plan &plan,
                                   const std::vector<AllocatorRounds> &results);

}  // namespace gr::tool
