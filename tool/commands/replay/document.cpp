// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/replay/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.hpp"
#include "reporting/document/words.hpp"

namespace gr::tool {

namespace {

using Results = std::vector<AllocatorRounds>;

const Axis kOperations{"operations", Unit::events, Scale::linear};

std::vector<std::string> names_of(const Results &results) {
    std::vector<std::string> names;
    for (const AllocatorRounds &one : results) names.push_back(one.allocator.name);
    return names;
}

BarsChart bars_of(const Results &results, const char *title, std::initializer_list<MeasureIndex> measures) {
    BarsChart bars;
    bars.title = title;
    bars.x = {"allocator", Unit::text, Scale::linear};
    bars.y = {title, kMeasures[*measures.begin()].unit, Scale::linear};
    bars.labels = names_of(results);
    for (const MeasureIndex index : measures) {
        BarsChart::Series series{kMeasures[index].title, {}, {}};
        for (const AllocatorRounds &one : results) series.values.push_back(range_of(one, kMeasures[index]).median);
        bars.series.push_back(std::move(series));
    }
    return bars;
}

TableChart table_of(const Results &results) {
    TableChart table;
    table.title = "Each allocator, in the median";
    table.columns = {{"allocator", Unit::text}};
    for (const Measure &measure : kMeasures) {
        if (*measure.title != 0) table.columns.push_back({measure.title, measure.unit});
    }
    table.columns.push_back({"CPU time, least to most", Unit::text});
    for (const AllocatorRounds &one : results) {
        std::vector<Value> row{one.allocator.name};
        for (const Measure &measure : kMeasures) {
            if (*measure.title != 0) row.emplace_back(range_of(one, measure).median);
        }
        const Range cpu = range_of(one, kMeasures[kCpu]);
        row.emplace_back(fmt::format("{} to {}", time_words(cpu.least), time_words(cpu.most)));
        table.rows.push_back(std::move(row));
    }
    return table;
}

// How many times the least the most is.
std::string against_least(const Results &results, const Measure &measure) {
    const AllocatorRounds &least = least_of(results, measure);
    const double base = range_of(least, measure).median;
    std::string text;
    for (const AllocatorRounds &one : results) {
        if (&one == &least || base <= 0) continue;
        text += fmt::format("{}{} {:.2f} times that", text.empty() ? "" : ", ", one.allocator.name,
                            range_of(one, measure).median / base);
    }
    return text.empty() ? "." : "; " + text + ".";
}

Section time_section(const Results &results) {
    const AllocatorRounds &least = least_of(results, kMeasures[kCpu]);
    Section section{"time", "How long does it take on each?", "", {}};
    section.answer =
        fmt::format("{} takes the least CPU time, {}{}", least.allocator.name,
                    time_words(range_of(least, kMeasures[kCpu]).median), against_least(results, kMeasures[kCpu]));
    section.charts = {bars_of(results, "Time", {kWall, kCpu}), table_of(results)};
    return section;
}

// The last value at or before each point, of numbers that come with the operations done.
std::vector<double> at_points(const std::vector<ResidentPoint> &points, const std::vector<double> &at) {
    std::vector<double> values;
    std::size_t next = 0;
    double now = 0;
    for (const double x : at) {
        while (next < points.size() && static_cast<double>(points[next].operations) <= x)
            now = static_cast<double>(points[next++].bytes);
        values.push_back(now);
    }
    return values;
}

Section memory_section(const Plan &plan, const Results &results) {
    const AllocatorRounds &least = least_of(results, kMeasures[kMost]);
    Section section{"memory", "How much memory does it take on each?", "", {}};
    section.answer =
        fmt::format("{} were in use at the peak; {} had at most {} resident, the least of all{}",
                    bytes_words(static_cast<double>(plan.peak_bytes)), least.allocator.name,
                    bytes_words(range_of(least, kMeasures[kMost]).median), against_least(results, kMeasures[kMost]));
    SeriesChart resident{"Resident memory, and what was in use",
                         kOperations,
                         {"bytes", Unit::bytes, Scale::linear},
                         false,
                         false,
                         {},
                         {}};
    SeriesChart::Series live{"in use", {}};
    for (const LivePoint &point : plan.live) {
        resident.at.push_back(static_cast<double>(point.operations));
        live.values.push_back(static_cast<double>(point.bytes));
    }
    SeriesChart overhead{"Resident bytes for each byte in use",
                         kOperations,
                         {"ratio", Unit::count, Scale::linear},
                         false,
                         false,
                         resident.at,
                         {}};
    for (const AllocatorRounds &one : results) {
        SeriesChart::Series series{one.allocator.name, at_points(one.rounds.back().resident, resident.at)};
        SeriesChart::Series ratio{one.allocator.name, {}};
        for (std::size_t i = 0; i < series.values.size(); ++i) {
            ratio.values.push_back(live.values[i] > 0 ? series.values[i] / live.values[i]
                                                      : std::numeric_limits<double>::quiet_NaN());
        }
        resident.series.push_back(std::move(series));
        overhead.series.push_back(std::move(ratio));
    }
    resident.series.push_back(std::move(live));
    section.charts = {std::move(resident), bars_of(results, "Memory", {kMost, kPeakResident, kEndResident}),
                      std::move(overhead)};
    return section;
}

Section limits_section() {
    Section section{"limits", "What does a replay not show?", "It does not show", {}};
    for (const char *one : kNotShown) section.answer += fmt::format("{} {}", one == kNotShown.front() ? "" : ";", one);
    section.answer += ".";
    return section;
}

}  // namespace

Document document_of(const trace::Trace &trace, const Plan &plan, const Results &results) {
    Document document;
    const std::string &program = trace.start().program;
    document.title = printable(program.substr(program.rfind('/') + 1));
    document.facts = {{"trace", printable(trace.path())},
                      {"recorded on", printable(trace.start().allocator)},
                      {"operations", count_words(static_cast<double>(plan.operations))},
                      {"threads", count_words(plan.threads)},
                      {"rounds", count_words(static_cast<double>(results.front().rounds.size()))}};
    if (!trace.damage().empty()) document.notes.push_back(trace.damage());
    document.sections = {time_section(results), memory_section(plan, results), limits_section()};
    document.compared = names_of(results);
    document.story = {document.sections[0].answer, document.sections[1].answer};
    return document;
}

}  // namespace gr::tool
