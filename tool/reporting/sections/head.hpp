// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the head of a report: which program, where and how it was recorded, and what the reader must know first.
// Invariant: text of a trace is anybody's: no control character goes out.
// Must not know: how sections come to their answers.
#pragma once

#include "reporting/document/document.hpp"
#include "reporting/steps/scope.hpp"

namespace gr::tool {

// left_out: events that could not be read.
[[nodiscard]] Document head_of(const Scope &scope, std::uint64_t left_out);

// Behind its sections: the sentences that matter most, and the chart that windows are selected in.
void tell_story(Document *document);

}  // namespace gr::tool
