// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: analysis.hpp.
// Invariant: the order of the gatherers is that of the sections.
// Must not know: how a report is shown.
#include "analysis/analysis.hpp"

#include <tuple>

#include "analysis/footprint.hpp"
#include "analysis/gatherers.hpp"
#include "analysis/head.hpp"
#include "analysis/intervals.hpp"
#include "analysis/lifetimes.hpp"
#include "analysis/scope.hpp"
#include "analysis/sizes.hpp"
#include "analysis/statistics.hpp"
#include "analysis/step_stream.hpp"

namespace gr::analysis {

Document analyse(const trace::Trace &trace) {
    const Scope scope(trace);
    std::tuple gatherers{Footprint(scope), Statistics(scope), Sizes(scope), Lifetimes(scope), Intervals(scope)};
    StepStream steps(trace, scope.time, {});
    while (const Batch *const batch = steps.next()) {
        for (const Step &step : *batch) tell_all(gatherers, step);
    }
    Document document = head_of(scope, steps.left_out());
    std::apply([&](const auto &...gatherer) { (document.sections.push_back(gatherer.section()), ...); }, gatherers);
    return document;
}

}  // namespace gr::analysis
