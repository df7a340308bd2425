// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a trace's events as a table of Apache Arrow, for pandas, polars and DuckDB.
// Invariant: a file in Arrow's IPC format (arrow.apache.org/docs/format/Columnar.html), uncompressed; rows in the order
//    of time.
// Must not know: what is computed from them.
#pragma once

#include "commands/export/sink.hpp"
#include "reading/symbols/calls.hpp"
#include "reading/trace/reader.hpp"

namespace gr::tool {

// mapped: with the calls by which the program and its libraries obtain memory from the kernel themselves.
void write_arrow(const trace::Trace &trace, Calls &calls, bool mapped, Sink &sink);

}  // namespace gr::tool
