// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reporting/sections/origins.hpp"

#include <fmt/format.h>

#include <utility>

#include "reporting/charts/flame.hpp"
#include "reporting/charts/site_table.hpp"
#include "reporting/document/words.hpp"

namespace gr::tool {

namespace {

StackMeasure allocated(const StackTotals &totals, std::string name, Unit unit, double StackSum::*number) {
    StackMeasure measure{std::move(name), unit, std::vector<double>(totals.count()), {}};
    for (std::uint32_t stack = 0; stack < totals.count(); ++stack) {
        for (const StackTotals::Part &part : totals.parts(stack)) {
            measure.values[stack] += part.sum.*number;
            measure.parts.push_back({stack, part.slice, part.sum.*number});
        }
    }
    return measure;
}

template <class Take>
StackMeasure at_moment(const StackTotals &totals, std::string name, Unit unit, Take take) {
    StackMeasure measure{std::move(name), unit, std::vector<double>(totals.count()), {}};
    for (std::uint32_t stack = 0; stack < totals.count(); ++stack) measure.values[stack] = take(stack);
    return measure;
}

double sum_of(const StackMeasure &measure) {
    double sum = 0;
    for (const double value : measure.values) sum += value;
    return sum;
}

}  // namespace

Section origins_section(const Scope &scope, const StackTotals &totals, CallSites &sites) {
    Section section{"origins", "Where does the memory come from?", "", {}};
    if (!scope.has_stacks() || totals.count() < 2) {
        section.answer = scope.has_stacks() ? "No call stack was taken." : "Call stacks were not recorded.";
        return section;
    }
    const auto peak = [&](std::uint32_t stack) { return totals.at_peak(stack); };
    const auto end = [&](std::uint32_t stack) { return totals.at_end(stack); };
    const std::vector<StackMeasure> measures = {
        at_moment(totals, "bytes at the peak", Unit::bytes, [&](auto stack) { return peak(stack).bytes; }),
        at_moment(totals, "blocks at the peak", Unit::count, [&](auto stack) { return peak(stack).blocks; }),
        allocated(totals, "bytes allocated", Unit::bytes, &StackSum::bytes),
        allocated(totals, "blocks allocated", Unit::count, &StackSum::blocks),
        at_moment(totals, "bytes at the end", Unit::bytes, [&](auto stack) { return end(stack).bytes; }),
        at_moment(totals, "blocks at the end", Unit::count, [&](auto stack) { return end(stack).blocks; })};
    SiteTable table("Call sites", {{"bytes at the peak", Unit::bytes},
                                   {"blocks at the peak", Unit::count},
                                   {"bytes allocated", Unit::bytes},
                                   {"blocks allocated", Unit::count}});
    for (std::uint32_t stack = 0; stack < totals.count(); ++stack) {
        if (measures[3].values[stack] <= 0) continue;
        table.add(sites.text(trace::StackNumber{stack}), {measures[0].values[stack], measures[1].values[stack],
                                                          measures[2].values[stack], measures[3].values[stack]});
    }
    TableChart chart = table.chart();
    if (chart.rows.empty()) {
        section.answer = "No block has a call stack.";
        return section;
    }
    const std::vector<Value> &largest = chart.rows.front();
    const double at_peak = sum_of(measures[0]);
    const std::string when = time_words(seconds(totals.peak_time()));
    section.answer = at_peak > 0
                         ? fmt::format("At the peak, {} after the start, {} of the memory in use came from {}.", when,
                                       share_words(std::get<double>(largest[1]), at_peak), table.largest())
                         : fmt::format("No block in use at the peak, {} after the start, has a call stack.", when);
    if (scope.has_sampled_stacks()) {
        chart.title += kEstimated;
        section.answer += fmt::format(" These are estimates: one stack was taken for every {} allocated, on average.",
                                      bytes_words(static_cast<double>(scope.trace.start().stack_bytes)));
    }
    section.charts = {flame_of("Call stacks", measures, sites), chart};
    return section;
}

}  // namespace gr::tool
