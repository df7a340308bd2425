// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: two traces of one program, held against each other: what grew, by size, by function, by thread, and when.
// Invariant: a document as that of a report, both drawn into each chart as A and B; in each table the rows come first
//    that changed most.
// Must not know: traces.
#pragma once

#include "commands/diff/program_use.hpp"
#include "reporting/document/document.hpp"
#include "reporting/steps/time_axis.hpp"

namespace gr::tool {

// By the axis with which the uses were made.
[[nodiscard]] Document comparison_of(const ProgramUse &before, const ProgramUse &after, const TimeAxis &time);

}  // namespace gr::tool
