// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a trace says: all sections of a report, by one pass over its events.
// Invariant: a damaged trace is analysed up to the damage, and the notes say so.
// Must not know: how a report is shown.
#pragma once

#include "analysis/document.hpp"
#include "trace/reader.hpp"

namespace gr::analysis {

[[nodiscard]] Document analyse(const trace::Trace &trace);

}  // namespace gr::analysis
