// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/export/folded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "reporting/steps/mapped_memory.hpp"
#include "reporting/steps/stack_profile.hpp"

namespace gr::tool {

namespace {

double value_of(const StackUse &use, const What &what) {
    const StackSum &sum = what.moment == Moment::peak  ? use.at_peak
                          : what.moment == Moment::end ? use.at_end
                                                       : use.allocated;
    return what.blocks ? sum.blocks : sum.bytes;
}

// Bytes that are resident; of the whole run those that were mapped.
double value_of(const MappedUse &use, const What &what) {
    if (what.moment == Moment::total) return what.blocks ? use.calls : use.bytes;
    const MappedSum &sum = what.moment == Moment::peak ? use.at_peak : use.at_end;
    return what.blocks ? sum.mappings : sum.resident;
}

}  // namespace

std::string folded_stack(const std::vector<const Call *> &calls) {
    if (calls.empty()) return kNoStack;
    std::string text;
    for (const Call *const call : calls) {
        if (!text.empty()) text += ';';
        std::string name = call->unique_name();
        std::replace(name.begin(), name.end(), ';', ':');
        text += name;
    }
    return text;
}

void write_folded(const trace::Trace &trace, Calls &calls, const What &what, Sink &sink) {
    std::map<std::string, double> lines;
    const auto add = [&](const auto &uses) {
        for (const auto &use : uses) lines[folded_stack(calls.of(use.stack))] += value_of(use, what);
    };
    if (what.mapped) {
        add(mapped_profile(trace));
    } else {
        add(stack_profile(trace));
    }
    for (const auto &[stack, value] : lines) {
        const long long number = std::llround(value);
        if (number > 0) sink.write(fmt::format("{} {}\n", stack, number));
    }
}

}  // namespace gr::tool
