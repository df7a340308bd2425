// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reporting/sections/origins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "reporting/charts/flame.hpp"
#include "reporting/charts/site_table.hpp"
#include "reporting/document/words.hpp"

namespace gr::tool {

namespace {

// Numbers by stack, and by thread where several threads allocated.
struct Totals {
    const StackTotals &by_stack;
    const ShownThreads &threads;
};

StackMeasure allocated(const Totals &totals, std::string name, Unit unit, double StackSum::*number) {
    const std::size_t count = totals.by_stack.count();
    StackMeasure measure{std::move(name), unit, std::vector<double>(count), {}, {}, false};
    for (std::uint32_t stack = 0; stack < count; ++stack) {
        for (const StackTotals::Share &share : totals.by_stack.shares(stack)) {
            for (const StackTotals::Part &part : share.parts) {
                measure.values[stack] += part.sum.*number;
                measure.parts.push_back({stack, part.slice, part.sum.*number, totals.threads.of(share.group)});
            }
        }
    }
    return measure;
}

StackMeasure at_moment(const Totals &totals, std::string name, Unit unit, StackSum StackTotals::Share::*moment,
                       double StackSum::*number) {
    const std::size_t count = totals.by_stack.count();
    StackMeasure measure{std::move(name), unit, std::vector<double>(count), {}, {}, false};
    for (std::uint32_t stack = 0; stack < count; ++stack) {
        for (const StackTotals::Share &share : totals.by_stack.shares(stack)) {
            const double value = share.*moment.*number;
            measure.values[stack] += value;
            if (value != 0) measure.by_thread.push_back({stack, 0, value, totals.threads.of(share.group)});
        }
    }
    return measure;
}

StackMeasure in_use(const Totals &all, std::string name) {
    const StackTotals &totals = all.by_stack;
    StackMeasure measure{std::move(name), Unit::bytes, std::vector<double>(totals.count()), {}, {}, true};
    for (std::uint32_t stack = 0; stack < totals.count(); ++stack) {
        double live = 0;
        for (const StackTotals::Part &change : totals.changes(stack)) {
            live += change.sum.bytes;
            measure.values[stack] = std::max(measure.values[stack], live);
        }
        for (const StackTotals::Share &share : totals.shares(stack)) {
            for (const StackTotals::Part &change : share.changes) {
                if (change.sum.bytes == 0) continue;
                measure.parts.push_back({stack, change.slice, change.sum.bytes, all.threads.of(share.group)});
            }
        }
    }
    return measure;
}

// The functions whose blocks were most at the ends of slices, each as an area; the others together.
SeriesChart by_function(const Scope &scope, const StackTotals &totals, CallSites &sites) {
    constexpr std::size_t kMost = 8;
    constexpr std::size_t kMostLetters = 60;
    using Course = std::vector<double>;
    std::map<std::string, Course> courses;
    for (std::uint32_t stack = 0; stack < totals.count(); ++stack) {
        const std::vector<StackTotals::Part> changes = totals.changes(stack);
        if (changes.empty()) continue;
        Course &course = courses[sites.caller_text(trace::StackNumber{stack})];
        course.resize(TimeAxis::kSlices);
        for (const StackTotals::Part &change : changes) course[change.slice] += change.sum.bytes;
    }
    std::vector<std::pair<std::string, Course>> largest;
    for (auto &[function, course] : courses) {
        std::partial_sum(course.begin(), course.end(), course.begin());
        largest.emplace_back(function, std::move(course));
    }
    std::ranges::stable_sort(largest, std::greater<>(), [](const auto &one) { return std::ranges::max(one.second); });
    if (largest.size() > kMost + 1) {
        Course rest(TimeAxis::kSlices);
        for (std::size_t i = kMost; i < largest.size(); ++i) {
            for (std::size_t slice = 0; slice < rest.size(); ++slice) rest[slice] += largest[i].second[slice];
        }
        const std::string others = count_words(static_cast<double>(largest.size() - kMost), "other", "others");
        largest.resize(kMost);
        largest.emplace_back(fmt::format("({})", others), std::move(rest));
    }
    SeriesChart chart;
    chart.title = fmt::format("Bytes in use over time, by function{}", scope.if_estimated(kEstimated));
    chart.x = {"time", Unit::time};
    chart.y = {"bytes in use", Unit::bytes};
    chart.is_stacked = true;
    chart.at = scope.time.edges(TimeAxis::kSlices);
    chart.at.erase(chart.at.begin());
    for (auto &[function, course] : largest)
        chart.series.push_back({short_name(function, kMostLetters), std::move(course)});
    return chart;
}

double sum_of(const StackMeasure &measure) {
    double sum = 0;
    for (const double value : measure.values) sum += value;
    return sum;
}

// Of one thread's share: the columns of the table by function.
std::vector<double> numbers_of(const StackTotals::Share &share) {
    StackSum allocated;
    for (const StackTotals::Part &part : share.parts) allocated.add(part.sum);
    return {share.at_peak.bytes, share.at_peak.blocks, allocated.bytes, allocated.blocks};
}

// The function that had the most in use at the peak.
struct Largest {
    std::string function;
    double bytes = 0;
    double of_all = 0;
};

std::string peak_sentence(const Largest &largest, const std::string &when, bool is_estimate) {
    if (largest.of_all <= 0)
        return fmt::format("No block in use at the peak, {} after the start, has a call stack.", when);
    if (is_estimate && largest.bytes == largest.of_all) {
        return fmt::format("At the peak, {} after the start, every sampled stack of the memory in use leads to {}.",
                           when, largest.function);
    }
    return fmt::format("At the peak, {} after the start, {} of the memory in use came from {}.", when,
                       about(share_words(largest.bytes, largest.of_all), is_estimate), largest.function);
}

}  // namespace

Section origins_section(const Scope &scope, const StackTotals &totals, const ShownThreads &threads, CallSites &sites) {
    Section section{"origins", "Where does the memory come from?", "", {}};
    if (!scope.has_stacks() || totals.count() < 2) {
        section.answer = scope.has_stacks() ? "No call stack was taken." : "Call stacks were not recorded.";
        return section;
    }
    using Share = StackTotals::Share;
    const Totals all{totals, threads};
    std::vector<StackMeasure> measures = {
        at_moment(all, "bytes at the peak", Unit::bytes, &Share::at_peak, &StackSum::bytes),
        at_moment(all, "blocks at the peak", Unit::count, &Share::at_peak, &StackSum::blocks),
        allocated(all, "bytes allocated", Unit::bytes, &StackSum::bytes),
        allocated(all, "blocks allocated", Unit::count, &StackSum::blocks),
        at_moment(all, "bytes at the end", Unit::bytes, &Share::at_end, &StackSum::bytes),
        at_moment(all, "blocks at the end", Unit::count, &Share::at_end, &StackSum::blocks)};
    SiteTable table("Memory by function",
                    {{"bytes at the peak", Unit::bytes},
                     {"blocks at the peak", Unit::count},
                     {"bytes allocated", Unit::bytes},
                     {"blocks allocated", Unit::count}},
                    sites);
    for (std::uint32_t stack = 0; stack < totals.count(); ++stack) {
        if (measures[3].values[stack] <= 0) continue;
        table.add(trace::StackNumber{stack}, {measures[0].values[stack], measures[1].values[stack],
                                              measures[2].values[stack], measures[3].values[stack]});
        if (!threads.are_told_apart()) continue;
        for (const Share &share : totals.shares(stack)) {
            if (!share.parts.empty())
                table.add_of_thread(threads.of(share.group), trace::StackNumber{stack}, numbers_of(share));
        }
    }
    TableChart chart = table.chart();
    if (chart.rows.empty()) {
        section.answer = "No block has a call stack.";
        return section;
    }
    const Largest largest{table.largest(), std::get<double>(chart.rows.front()[1]), sum_of(measures[0])};
    section.answer = peak_sentence(largest, time_words(seconds(totals.peak_time())), scope.has_sampled_stacks());
    if (scope.has_sampled_stacks()) {
        section.answer += fmt::format(" These are estimates: one stack was taken for every {} allocated, on average.",
                                      bytes_words(static_cast<double>(scope.trace.start().stack_bytes)));
    }
    measures.insert(measures.begin() + 2, in_use(all, "bytes in use at the end of the window"));
    chart.title += scope.if_estimated(kEstimated);
    section.charts = {flame_of(fmt::format("Call stacks{}", scope.if_estimated(kEstimated)), measures, sites,
                               threads.are_told_apart()),
                      by_function(scope, totals, sites), chart};
    return section;
}

}  // namespace gr::tool
