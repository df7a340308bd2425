// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a trace as heaptrack's own file, for heaptrack_gui and heaptrack_print.
// Invariant: the same calls, in order, with the same sizes; a stack that was not taken is one call of that name.
// Must not know: how heaptrack shows it.
#pragma once

#include "commands/export/sink.hpp"
#include "reading/symbols/calls.hpp"
#include "reading/trace/reader.hpp"

namespace gr::tool {

void write_heaptrack(const trace::Trace &trace, Calls &calls, Sink &sink);

}  // namespace gr::tool
