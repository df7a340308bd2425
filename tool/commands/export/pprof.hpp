// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a trace as a profile that pprof reads: what was allocated, and what was in use at the peak or at the end.
// Invariant: what profile.proto says (github.com/google/pprof); gzip'd by the sink.
// Must not know: how pprof shows it.
#pragma once

#include "commands/export/request.hpp"
#include "commands/export/sink.hpp"
#include "reading/symbols/calls.hpp"
#include "reading/trace/reader.hpp"

namespace gr::tool {

// in_use: peak or end.
void write_pprof(const trace::Trace &trace, Calls &calls, Moment in_use, Sink &sink);

}  // namespace gr::tool
