// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a trace says: all sections of a report, by one pass over its events; of the whole, or of a window of time.
// Invariant: a damaged trace is analysed up to the damage, and the notes say so. A window's numbers are those of its
//    events, with what was in use before it.
// Must not know: how a report is shown.
#pragma once

#include <utility>

#include "reading/symbols/calls.hpp"
#include "reading/trace/reader.hpp"
#include "reporting/charts/call_sites.hpp"
#include "reporting/document/document.hpp"
#include "reporting/steps/course.hpp"
#include "reporting/steps/positions.hpp"
#include "reporting/steps/scope.hpp"

namespace gr::tool {

[[nodiscard]] Document analyse(const trace::Trace &trace, const Naming &naming = {});

// Documents of one trace, one after the other: what one finds on its way serves the next.
class Analyst {
  public:
    explicit Analyst(const trace::Trace &trace, Naming naming = {})
        : trace_(trace), naming_(std::move(naming)), calls_(trace) {}

    // Throws Unwanted.
    [[nodiscard]] Document whole(Course &course);
    [[nodiscard]] Document window(Window window, Course &course);

  private:
    const trace::Trace &trace_;
    Naming naming_;
    Calls calls_;
    Positions positions_;
};

}  // namespace gr::tool
