// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/diff/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "commands/diff/growth_flame.hpp"
#include "reporting/document/words.hpp"
#include "reporting/steps/mapped_memory.hpp"
#include "reporting/steps/scope.hpp"

namespace gr::tool {

namespace {

constexpr std::size_t kMostRows = 100;
constexpr std::size_t kMostBars = 20;
constexpr std::size_t kMostNamed = 160;  // letters, in a sentence
constexpr std::size_t kStory = 3;        // of the first sections the first sentence

struct Row {
    std::string name;
    double before = 0;
    double after = 0;

    [[nodiscard]] double growth() const { return after - before; }
};
using Rows = std::vector<Row>;

TableChart table_of(std::string title, const std::string &what, Unit unit, const Rows &rows) {
    TableChart chart;
    chart.title = std::move(title);
    chart.columns = {{what, Unit::text}, {"A", unit}, {"B", unit}, {"growth", unit}, {"in percent", Unit::growth}};
    for (const Row &row : rows) {
        const double share = row.before == 0 ? std::numeric_limits<double>::quiet_NaN() : row.growth() / row.before;
        chart.rows.push_back({row.name, row.before, row.after, row.growth(), share});
    }
    return chart;
}

// Of both, by name; those that did not change are left out.
template <class Key, class Sums, class Name>
Rows changed(const std::map<Key, Sums> &before, const std::map<Key, Sums> &after, double Sums::*number, Name name) {
    constexpr double kRounding = 0.5;  // what sums of estimates leave of nothing
    std::map<Key, Row> all;
    for (const auto &[key, use] : before) all[key].before = use.*number;
    for (const auto &[key, use] : after) all[key].after = use.*number;
    Rows rows;
    for (auto &[key, row] : all) {
        if (std::abs(row.growth()) < kRounding) continue;
        row.name = name(key);
        rows.push_back(row);
    }
    std::ranges::stable_sort(rows, std::greater<>(), [](const Row &row) { return std::abs(row.growth()); });
    if (rows.size() > kMostRows) rows.resize(kMostRows);
    return rows;
}

// The first rows, which changed most.
BarsChart bars_of(std::string title, const std::string &what, const Axis &axis, const Rows &rows) {
    BarsChart chart;
    chart.title = std::move(title);
    chart.x = {what, Unit::text};
    chart.y = axis;
    chart.series = {{"A", {}, {}}, {"B", {}, {}}};
    for (const Row &row : rows) {
        if (chart.labels.size() == kMostBars) break;
        chart.labels.push_back(row.name);
        chart.series[0].values.push_back(row.before);
        chart.series[1].values.push_back(row.after);
    }
    return chart;
}

SeriesChart over_time(const char *title, const Axis &axis, const TimeAxis &time, const std::vector<double> &before,
                      const std::vector<double> &after) {
    SeriesChart chart;
    chart.title = title;
    chart.x = {"time since the start of each run", Unit::time};
    chart.y = axis;
    chart.at = time.point_ends();
    if (!before.empty()) chart.series.push_back({"A", before});
    if (!after.empty()) chart.series.push_back({"B", after});
    return chart;
}

std::string as_it_is(const std::string &name) { return name; }

// "12 % more", "3.1 times as much".
std::string growth_words(double before, double after) {
    constexpr double kTimes = 2;
    if (before == after) return "the same";
    if (before == 0) return "new in B";
    const double ratio = after / before;
    if (ratio >= kTimes) return fmt::format("{:.1f} times as much", ratio);
    const char *const direction = ratio > 1 ? "more" : "less";
    const double share = std::abs(ratio - 1);
    constexpr double kLarge = 0.5;  // all of it is no limit, as it is of a share
    return fmt::format("{} {}", share < kLarge ? share_words(share, 1) : growth_percent(share), direction);
}

std::string sentence(const std::string &what, double before, double after, std::string (*words)(double)) {
    if (before == after) return fmt::format("{}: {} in both.", what, words(after));
    return fmt::format("{0}: from {2} to {1}, {3}.", what, words(after), words(before), growth_words(before, after));
}

std::string plain_count(double count) { return count_words(count); }

std::string most_growth(const Rows &rows, const std::string &none, bool is_estimate = false) {
    const auto most = std::ranges::max_element(rows, {}, &Row::growth);
    if (most == rows.end() || most->growth() <= 0) return none;
    return fmt::format("Largest growth: {0}, from {2} to {1}.", short_name(most->name, kMostNamed),
                       about(bytes_words(most->after), is_estimate), about(bytes_words(most->before), is_estimate));
}

Section totals(const ProgramUse &a, const ProgramUse &b) {
    Section section{"totals", "What grew?", "", {}};
    section.answer = sentence("In use at the peak", a.peak_bytes, b.peak_bytes, bytes_words) + " " +
                     sentence("At the end", a.end_bytes, b.end_bytes, bytes_words) + " " +
                     sentence("Successful allocations", a.calls, b.calls, plain_count) + " " +
                     sentence("Bytes requested", a.bytes, b.bytes, bytes_words);
    if (a.resident > 0 && b.resident > 0)
        section.answer += " " + sentence("Peak resident memory", a.resident, b.resident, bytes_words);
    section.answer += " " + sentence("Time", a.seconds, b.seconds, time_words);
    Rows times = {{"time", a.seconds, b.seconds}};
    Rows bytes = {{"requested", a.bytes, b.bytes},
                  {"in use at the peak", a.peak_bytes, b.peak_bytes},
                  {"in use at the end", a.end_bytes, b.end_bytes}};
    if (a.resident > 0 && b.resident > 0) {
        bytes.push_back({"peak resident", a.resident, b.resident});
        times.push_back({"CPU time", a.cpu_seconds, b.cpu_seconds});
    }
    const Rows counts = {{"successful allocations", a.calls, b.calls},
                         {"failed allocations", a.failed, b.failed},
                         {"blocks in use at the end", a.end_blocks, b.end_blocks}};
    section.charts = {table_of("Bytes", "bytes", Unit::bytes, bytes), table_of("Counts", "count", Unit::count, counts),
                      table_of("Times", "time", Unit::seconds, times)};
    return section;
}

// The first to the last bucket that either has anything in.
BarsChart by_size(const ProgramUse &a, const ProgramUse &b) {
    BarsChart chart;
    chart.title = "Bytes allocated, by requested size";
    chart.x = {"requested size", Unit::bytes, Scale::log};
    chart.y = {"bytes", Unit::bytes};
    chart.series = {{"A", {}, {}}, {"B", {}, {}}};
    const auto is_empty = [&](unsigned bucket) {
        return a.by_size_bucket[bucket].blocks == 0 && b.by_size_bucket[bucket].blocks == 0;
    };
    unsigned first = 0;
    unsigned behind = trace::kSizeBuckets;
    while (first < behind && is_empty(first)) ++first;
    while (behind > first && is_empty(behind - 1)) --behind;
    if (first == behind) return chart;
    chart.edges = {first == 0 ? 0 : static_cast<double>(trace::bucket_end(first - 1))};
    for (unsigned bucket = first; bucket < behind; ++bucket) {
        chart.edges.push_back(static_cast<double>(trace::bucket_end(bucket)));
        chart.series[0].values.push_back(a.by_size_bucket[bucket].bytes);
        chart.series[1].values.push_back(b.by_size_bucket[bucket].bytes);
    }
    return chart;
}

Section sizes(const ProgramUse &a, const ProgramUse &b) {
    const auto name = [](std::uint64_t size) {
        return fmt::format("blocks of {}", bytes_words(static_cast<double>(size)));
    };
    const Rows bytes = changed(a.by_class, b.by_class, &Use::bytes, name);
    Section section{"sizes", "Which sizes?", most_growth(bytes, "No size class grew."), {}};
    section.charts = {by_size(a, b), table_of("Bytes allocated, by size class", "size class", Unit::bytes, bytes),
                      table_of("Blocks allocated, by size class", "size class", Unit::count,
                               changed(a.by_class, b.by_class, &Use::blocks, name)),
                      table_of("Bytes in use at the end, by size class", "size class", Unit::bytes,
                               changed(a.by_class, b.by_class, &Use::at_end, name))};
    return section;
}

Section sites(const ProgramUse &a, const ProgramUse &b, std::vector<Frame> *frames) {
    Section section{"sites", "Which functions?", "", {}};
    if (!a.has_stacks || !b.has_stacks) {
        section.answer = "Call stacks were not recorded in both traces.";
        return section;
    }
    const Rows peak = changed(a.by_site, b.by_site, &Use::at_peak, as_it_is);
    const bool is_estimate = a.is_sampled || b.is_sampled;
    const auto title = [&](const std::string &text) {
        return fmt::format("{}{}", text, is_estimate ? kEstimated : "");
    };
    section.answer = most_growth(peak,
                                 is_estimate ? "By the sampled stacks, no function had more in use at the peak."
                                             : "No function had more in use at the peak.",
                                 is_estimate);
    if (is_estimate) section.answer += " These are estimates: only some calls have a recorded stack.";
    const Rows bytes = changed(a.by_site, b.by_site, &Use::bytes, as_it_is);
    const Axis axis{"bytes", Unit::bytes};
    if (!peak.empty()) {
        section.charts.emplace_back(
            bars_of(title("Functions that changed most, by bytes in use at the peak"), "function", axis, peak));
    }
    if (!bytes.empty()) {
        section.charts.emplace_back(
            bars_of(title("Functions that changed most, by bytes allocated"), "function", axis, bytes));
    }
    if (FlameChart flame = growth_flame(a, b, frames); !flame.measures.empty()) {
        flame.title = title(flame.title);
        section.charts.emplace_back(std::move(flame));
    }
    const std::vector<TableChart> tables = {
        table_of(title("Bytes in use at the peak, by function"), "function", Unit::bytes, peak),
        table_of(title("Bytes allocated, by function"), "function", Unit::bytes, bytes),
        table_of(title("Blocks allocated, by function"), "function", Unit::count,
                 changed(a.by_site, b.by_site, &Use::blocks, as_it_is)),
        table_of(title("Bytes in use at the end, by function"), "function", Unit::bytes,
                 changed(a.by_site, b.by_site, &Use::at_end, as_it_is))};
    section.charts.insert(section.charts.end(), tables.begin(), tables.end());
    return section;
}

double sum_of(const std::map<std::string, Mapped> &by_site) {
    double sum = 0;
    for (const auto &[site, mapped] : by_site) sum += mapped.resident;
    return sum;
}

Rows resident_rows(const ProgramUse &a, const ProgramUse &b) {
    std::map<trace::MemoryKind, Row> kinds;
    for (const auto &[kind, resident] : a.resident_by_kind) kinds[kind].before = resident;
    for (const auto &[kind, resident] : b.resident_by_kind) kinds[kind].after = resident;
    Rows rows;
    for (auto &[kind, row] : kinds) {
        if (row.before == 0 && row.after == 0) continue;
        row.name = kind_name(kind);
        rows.push_back(row);
    }
    return rows;
}

Section resident(const ProgramUse &a, const ProgramUse &b) {
    Section section{"resident", "What is the resident memory made of?", "", {}};
    if (!a.has_kinds || !b.has_kinds) {
        section.answer = "What the resident memory was for was not recorded in both traces.";
        return section;
    }
    const Rows kinds = resident_rows(a, b);
    const double before = sum_of(a.mapped_by_site);
    const double after = sum_of(b.mapped_by_site);
    const Rows sites = changed(a.mapped_by_site, b.mapped_by_site, &Mapped::resident, as_it_is);
    section.answer = sentence("Resident, mapped without malloc", before, after, bytes_words) + " " +
                     most_growth(sites, "No function mapped more that was resident.") +
                     " All numbers here are of the moment when most was resident.";
    const Axis axis{"resident bytes", Unit::bytes};
    if (!kinds.empty()) section.charts.emplace_back(bars_of("Resident memory by kind", "memory", axis, kinds));
    section.charts.emplace_back(table_of("Resident memory, by kind", "memory", Unit::bytes, kinds));
    section.charts.emplace_back(
        table_of("Resident, mapped without malloc, by function", "function", Unit::bytes, sites));
    section.charts.emplace_back(table_of("Addresses mapped without malloc, by function", "function", Unit::bytes,
                                         changed(a.mapped_by_site, b.mapped_by_site, &Mapped::addresses, as_it_is)));
    return section;
}

Section threads(const ProgramUse &a, const ProgramUse &b) {
    const Rows bytes = changed(a.by_thread, b.by_thread, &Use::bytes, as_it_is);
    Section section{"threads", "Which threads?", most_growth(bytes, "No thread requested more bytes."), {}};
    if (!bytes.empty()) {
        section.charts.emplace_back(
            bars_of("Threads that changed most, by bytes allocated", "thread", {"bytes", Unit::bytes}, bytes));
    }
    section.charts.emplace_back(table_of("Bytes allocated, by thread's name", "thread", Unit::bytes, bytes));
    section.charts.emplace_back(table_of("Blocks allocated, by thread's name", "thread", Unit::count,
                                         changed(a.by_thread, b.by_thread, &Use::blocks, as_it_is)));
    return section;
}

BarsChart by_part(const ProgramUse &a, const ProgramUse &b) {
    BarsChart chart;
    chart.title = "Peak of the bytes in use, by part of each run";
    chart.x = {"part of the run's time", Unit::fraction};
    chart.y = {"bytes", Unit::bytes};
    for (std::size_t i = 0; i <= kTimeParts; ++i) chart.edges.push_back(static_cast<double>(i) / kTimeParts);
    for (const auto &[name, use] : {std::pair{"A", &a}, std::pair{"B", &b}})
        chart.series.push_back({name, {use->most_in_part.begin(), use->most_in_part.end()}, {}});
    return chart;
}

// A tenth of one run is another time than a tenth of the other, if their lengths differ by more than this share.
bool have_one_length(const ProgramUse &a, const ProgramUse &b) {
    constexpr double kDifference = 0.1;
    const double longer = std::max(a.seconds, b.seconds);
    return longer - std::min(a.seconds, b.seconds) <= kDifference * longer;
}

// "10 to 20 %", and where that is not the same time in both, when that is.
std::string part_name(std::size_t part, const ProgramUse &a, const ProgramUse &b) {
    constexpr std::size_t kPercent = 100 / kTimeParts;
    const std::string percent = fmt::format("{} to {} %", part * kPercent, (part + 1) * kPercent);
    if (have_one_length(a, b)) return percent;
    const auto when = [&](const ProgramUse &use) {
        const double each = use.seconds / kTimeParts;
        return fmt::format("{} to {}", time_words(each * static_cast<double>(part)),
                           time_words(each * static_cast<double>(part + 1)));
    };
    return fmt::format("{} (A: {}; B: {})", percent, when(a), when(b));
}

Section times(const ProgramUse &a, const ProgramUse &b, const TimeAxis &time) {
    Section section{"time", "When?", "No part of the run had more in use.", {}};
    Rows rows;
    for (std::size_t i = 0; i < kTimeParts; ++i)
        rows.push_back({part_name(i, a, b), a.most_in_part[i], b.most_in_part[i]});
    const auto most = std::ranges::max_element(rows, {}, &Row::growth);
    if (most->growth() > 0) {
        section.answer = fmt::format("Largest growth at {0} of the run: from {2} to {1} in use.", most->name,
                                     bytes_words(most->after), bytes_words(most->before));
    }
    if (!have_one_length(a, b)) {
        section.answer += fmt::format(
            " The runs took {} and {}: a tenth of one is not the same time as a tenth of the other, so compare tenths "
            "only if both runs did the same work.",
            time_words(a.seconds), time_words(b.seconds));
    }
    const Axis bytes{"bytes", Unit::bytes};
    section.charts = {over_time("Bytes in use over time", bytes, time, a.in_use, b.in_use)};
    SeriesChart resident =
        over_time("Bytes resident over time", bytes, time, a.resident_over_time, b.resident_over_time);
    if (!resident.series.empty()) section.charts.emplace_back(std::move(resident));
    section.charts.emplace_back(
        over_time("Blocks in use over time", {"blocks", Unit::count}, time, a.blocks_in_use, b.blocks_in_use));
    section.charts.emplace_back(by_part(a, b));
    section.charts.emplace_back(
        table_of("Peak of the bytes in use, by part of the run", "part of the run", Unit::bytes, rows));
    return section;
}

std::string first_sentence(const std::string &text) {
    const std::size_t end = text.find(". ");
    return end == std::string::npos ? text : text.substr(0, end + 1);
}

}  // namespace

Document comparison_of(const ProgramUse &before, const ProgramUse &after, const TimeAxis &time) {
    Document document;
    document.title = fmt::format("What grew from {} to {}", before.file, after.file);
    document.compared = {fmt::format("A: {}", before.file), fmt::format("B: {}", after.file)};
    document.facts = {{"A", fmt::format("{}, on {}", before.file, before.allocator)},
                      {"B", fmt::format("{}, on {}", after.file, after.allocator)}};
    for (const auto &[name, use] : {std::pair{"A", &before}, std::pair{"B", &after}}) {
        for (const std::string &note : use->notes) document.notes.push_back(fmt::format("{}: {}", name, note));
        for (const Document::Mark &mark : use->marks)
            document.marks.push_back({mark.time, fmt::format("{}: {}", name, mark.text)});
    }
    document.sections = {totals(before, after),   times(before, after, time), sites(before, after, &document.frames),
                         resident(before, after), sizes(before, after),       threads(before, after)};
    for (std::size_t i = 0; i < kStory; ++i) document.story.push_back(first_sentence(document.sections[i].answer));
    document.overview = std::get<SeriesChart>(document.sections[1].charts.front());
    document.slices = time.edges(TimeAxis::kSlices);
    return document;
}

}  // namespace gr::tool
