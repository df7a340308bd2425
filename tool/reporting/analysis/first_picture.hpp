// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what the summaries of a trace's blocks of events tell, and its samples: a picture before any event was read.
// Invariant: no block of events is unpacked. What is told is exact but for when: a block's calls count as spread over
//    its time evenly.
// Must not know: that the whole is told later.
#pragma once

#include "reading/trace/reader.hpp"
#include "reporting/document/document.hpp"

namespace gr::tool {

[[nodiscard]] Document first_picture(const trace::Trace &trace);

}  // namespace gr::tool
