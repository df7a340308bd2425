// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reporting/steps/stack_profile.hpp"

#include "reporting/steps/gatherers.hpp"
#include "reporting/steps/step_stream.hpp"

namespace gr::tool {

std::vector<StackUse> stack_profile(const trace::Trace &trace) {
    const Scope scope(trace);
    StackTotals totals(scope);
    StepStream steps(scope, {});
    while (const Batch *const batch = steps.next()) {
        for (const Step &step : *batch) tell(totals, step);
    }
    return stack_uses(totals);
}

std::vector<StackUse> stack_uses(const StackTotals &totals) {
    std::vector<StackUse> uses;
    for (std::uint32_t number = 0; number < totals.count(); ++number) {
        StackUse use{trace::StackNumber{number}, {}, totals.at_peak(number), totals.at_end(number)};
        for (const auto &part : totals.parts(number)) use.allocated.add(part.sum.bytes, part.sum.blocks);
        if (use.allocated.blocks > 0) uses.push_back(use);
    }
    return uses;
}

}  // namespace gr::tool
