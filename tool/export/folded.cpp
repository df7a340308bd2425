// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "export/folded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/stack_profile.hpp"

namespace gr::tool {

namespace {

double value_of(const analysis::StackUse &use, const What &what) {
    const analysis::StackSum &sum = what.moment == Moment::kPeak  ? use.at_peak
                                    : what.moment == Moment::kEnd ? use.at_end
                                                                  : use.allocated;
    return what.blocks ? sum.blocks : sum.bytes;
}

}  // namespace

std::string folded_stack(const std::vector<const symbols::Call *> &calls) {
    if (calls.empty()) return analysis::kNoStack;
    std::string text;
    for (const symbols::Call *const call : calls) {
        if (!text.empty()) text += ';';
        std::string name = call->function;
        std::replace(name.begin(), name.end(), ';', ':');
        text += name;
    }
    return text;
}

void write_folded(const trace::Trace &trace, const What &what, Sink &sink) {
    symbols::Calls calls(trace);
    std::map<std::string, double> lines;
    for (const analysis::StackUse &use : analysis::stack_profile(trace)) {
        lines[folded_stack(calls.of(use.stack))] += value_of(use, what);
    }
    for (const auto &[stack, value] : lines) {
        const long long number = std::llround(value);
        if (number > 0) sink.write(fmt::format("{} {}\n", stack, number));
    }
}

}  // namespace gr::tool
