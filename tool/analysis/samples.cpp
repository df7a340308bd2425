// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: samples.hpp.
// Invariant: as there.
// Must not know: what the samples are shown beside.
#include "analysis/samples.hpp"

#include <algorithm>
#include <limits>

namespace gr::analysis {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// value(i): from sample i on.
template <class Value>
std::vector<double> by_points(const Scope &scope, Value value) {
    std::vector<double> values(TimeAxis::kPoints, kUnknown);
    const std::vector<trace::Sample> &samples = scope.trace.samples();
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const std::uint32_t from = scope.time.point_of(samples[i].time);
        const std::uint32_t to =
            i + 1 < samples.size() ? scope.time.point_of(samples[i + 1].time) : TimeAxis::kPoints - 1;
        for (std::uint32_t point = from; point <= to; ++point) values[point] = value(i);
    }
    return values;
}

}  // namespace

std::vector<double> at_points(const Scope &scope, std::uint64_t trace::Sample::*number) {
    return by_points(scope, [&](std::size_t i) { return static_cast<double>(scope.trace.samples()[i].*number); });
}

std::vector<double> growth_at_points(const Scope &scope, std::uint64_t trace::Sample::*number) {
    const std::vector<trace::Sample> &samples = scope.trace.samples();
    return by_points(scope, [&](std::size_t i) {
        if (i + 1 >= samples.size()) return kUnknown;
        const double took = seconds(samples[i + 1].time) - seconds(samples[i].time);
        if (took <= 0) return kUnknown;
        return (static_cast<double>(samples[i + 1].*number) - static_cast<double>(samples[i].*number)) / took;
    });
}

const trace::Sample *highest_resident(const trace::Trace &trace) {
    const auto less = [](const trace::Sample &a, const trace::Sample &b) {
        return a.resident_bytes < b.resident_bytes;
    };
    const auto found = std::max_element(trace.samples().begin(), trace.samples().end(), less);
    return found == trace.samples().end() ? nullptr : &*found;
}

}  // namespace gr::analysis
