// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reporting/steps/samples.hpp"

#include <limits>

namespace gr::tool {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr double kSecondsPerMicrosecond = 1e-6;

// value(i): from sample i on.
template <class Value>
std::vector<double> by_points(const Scope &scope, Value value) {
    std::vector<double> values(TimeAxis::kPoints, kUnknown);
    const std::vector<trace::Sample> &samples = scope.trace.samples();
    for (std::size_t i = 0; i < samples.size() && samples[i].time <= scope.time.last(); ++i) {
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

const trace::Sample *highest_resident(const Scope &scope) {
    const trace::Sample *highest = nullptr;
    for (const trace::Sample &sample : scope.trace.samples()) {
        if (!scope.time.has(sample.time)) continue;
        if (highest == nullptr || sample.resident_bytes > highest->resident_bytes) highest = &sample;
    }
    return highest;
}

double processor_seconds(const Scope &scope) {
    const std::vector<trace::Sample> &samples = scope.trace.samples();
    if (samples.empty()) return 0;
    const auto used = [](const trace::Sample &sample) {
        return static_cast<double>(sample.user_microseconds + sample.system_microseconds) * kSecondsPerMicrosecond;
    };
    const auto used_until = [&](double time) {
        trace::Sample before;
        for (const trace::Sample &sample : samples) {
            if (seconds(sample.time) > time) {
                const double share = (time - seconds(before.time)) / (seconds(sample.time) - seconds(before.time));
                return used(before) + share * (used(sample) - used(before));
            }
            before = sample;
        }
        return used(before);
    };
    if (!scope.is_window) return used(samples.back());
    const double begin = scope.time.ends().front();
    return used_until(begin + scope.time.length()) - used_until(begin);
}

}  // namespace gr::tool
