// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a trace for Perfetto: counters of what is in use, resident and computed, a track for each thread, marks, and
//    the largest allocations as instants.
// Invariant: TracePackets as protos/perfetto/trace says (github.com/google/perfetto); moments count from the
//    recording's begin.
// Must not know: how Perfetto shows it.
#pragma once

#include "commands/export/sink.hpp"
#include "reading/trace/reader.hpp"

namespace gr::tool {

void write_perfetto(const trace::Trace &trace, Sink &sink);

}  // namespace gr::tool
