// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: comparison.hpp.
// Invariant: as there.
// Must not know: traces.
#include "diff/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "analysis/words.hpp"

namespace gr::tool {

namespace {

using analysis::Section;
using analysis::TableChart;
using analysis::Unit;

constexpr std::size_t kMostRows = 100;

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
    chart.columns = {{what, Unit::kText}, {"A", unit}, {"B", unit}, {"growth", unit}, {"in percent", Unit::kFraction}};
    for (const Row &row : rows) {
        const double share = row.before == 0 ? std::numeric_limits<double>::quiet_NaN() : row.growth() / row.before;
        chart.rows.push_back({row.name, row.before, row.after, row.growth(), share});
    }
    return chart;
}

// Of both, by name; those that did not change are left out.
template <class Key, class Name>
Rows changed(const std::map<Key, Use> &before, const std::map<Key, Use> &after, double Use::*number, Name name) {
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

std::string as_it_is(const std::string &name) { return name; }

// "12 % more", "3.1 times as much".
std::string growth_words(double before, double after) {
    constexpr double kTimes = 2;
    constexpr double kLeast = 0.001;
    if (before == after) return "the same";
    if (before == 0) return "from nothing";
    const double ratio = after / before;
    if (ratio >= kTimes) return fmt::format("{:.1f} times as much", ratio);
    const double share = std::abs(ratio - 1);
    const char *const direction = ratio > 1 ? "more" : "less";
    return share < kLeast ? fmt::format("less than 0.1 % {}", direction)
                          : fmt::format("{:.1f} % {}", share * 100, direction);
}

std::string sentence(const std::string &what, double before, double after, std::string (*words)(double)) {
    if (before == after) return fmt::format("{}: {} in both.", what, words(after));
    return fmt::format("{}: {} after {}, {}.", what, words(after), words(before), growth_words(before, after));
}

std::string plain_count(double count) { return analysis::count_words(count); }

std::string most_growth(const Rows &rows, const std::string &none) {
    const auto most = std::ranges::max_element(rows, {}, &Row::growth);
    if (most == rows.end() || most->growth() <= 0) return none;
    return fmt::format("Most grew {}: {} after {}.", most->name, analysis::bytes_words(most->after),
                       analysis::bytes_words(most->before));
}

Section totals(const ProgramUse &a, const ProgramUse &b) {
    Section section{"totals", "What grew?", "", {}};
    section.answer = sentence("In use at the peak", a.peak_bytes, b.peak_bytes, analysis::bytes_words) + " " +
                     sentence("At the end", a.end_bytes, b.end_bytes, analysis::bytes_words) + " " +
                     sentence("Calls that got memory", a.calls, b.calls, plain_count) + " " +
                     sentence("Bytes asked for", a.bytes, b.bytes, analysis::bytes_words);
    if (a.resident > 0 && b.resident > 0)
        section.answer += " " + sentence("Resident, at most", a.resident, b.resident, analysis::bytes_words);
    section.answer += " " + sentence("Time", a.seconds, b.seconds, analysis::time_words);
    Rows times = {{"time", a.seconds, b.seconds}};
    Rows bytes = {{"asked for", a.bytes, b.bytes},
                  {"in use at the peak", a.peak_bytes, b.peak_bytes},
                  {"in use at the end", a.end_bytes, b.end_bytes}};
    if (a.resident > 0 && b.resident > 0) {
        bytes.push_back({"resident, at most", a.resident, b.resident});
        times.push_back({"CPU time", a.cpu_seconds, b.cpu_seconds});
    }
    const Rows counts = {{"calls that got memory", a.calls, b.calls},
                         {"calls that got none", a.failed, b.failed},
                         {"blocks in use at the end", a.end_blocks, b.end_blocks}};
    section.charts = {table_of("Bytes", "bytes", Unit::kBytes, bytes),
                      table_of("Counts", "count", Unit::kCount, counts),
                      table_of("Times", "time", Unit::kSeconds, times)};
    return section;
}

Section sizes(const ProgramUse &a, const ProgramUse &b) {
    const auto name = [](std::uint64_t size) {
        return fmt::format("blocks of {}", analysis::bytes_words(static_cast<double>(size)));
    };
    const Rows bytes = changed(a.by_class, b.by_class, &Use::bytes, name);
    Section section{"sizes", "Which sizes?", most_growth(bytes, "No size class was asked for more."), {}};
    section.charts = {table_of("Bytes allocated, by size class", "size class", Unit::kBytes, bytes),
                      table_of("Blocks allocated, by size class", "size class", Unit::kCount,
                               changed(a.by_class, b.by_class, &Use::blocks, name)),
                      table_of("Bytes in use at the end, by size class", "size class", Unit::kBytes,
                               changed(a.by_class, b.by_class, &Use::at_end, name))};
    return section;
}

Section sites(const ProgramUse &a, const ProgramUse &b) {
    Section section{"sites", "Which call sites?", "", {}};
    if (!a.has_stacks || !b.has_stacks) {
        section.answer = "Call stacks were not recorded in both.";
        return section;
    }
    const Rows peak = changed(a.by_site, b.by_site, &Use::at_peak, as_it_is);
    section.answer = most_growth(peak, "No call site had more in use at the peak.");
    if (a.is_sampled || b.is_sampled) section.answer += " These are estimates: not every call's stack was taken.";
    section.charts = {table_of("Bytes in use at the peak, by call site", "call site", Unit::kBytes, peak),
                      table_of("Bytes allocated, by call site", "call site", Unit::kBytes,
                               changed(a.by_site, b.by_site, &Use::bytes, as_it_is)),
                      table_of("Blocks allocated, by call site", "call site", Unit::kCount,
                               changed(a.by_site, b.by_site, &Use::blocks, as_it_is)),
                      table_of("Bytes in use at the end, by call site", "call site", Unit::kBytes,
                               changed(a.by_site, b.by_site, &Use::at_end, as_it_is))};
    return section;
}

Section threads(const ProgramUse &a, const ProgramUse &b) {
    const Rows bytes = changed(a.by_thread, b.by_thread, &Use::bytes, as_it_is);
    Section section{"threads", "Which threads?", most_growth(bytes, "No thread asked for more."), {}};
    section.charts = {table_of("Bytes allocated, by thread's name", "thread", Unit::kBytes, bytes),
                      table_of("Blocks allocated, by thread's name", "thread", Unit::kCount,
                               changed(a.by_thread, b.by_thread, &Use::blocks, as_it_is))};
    return section;
}

Section times(const ProgramUse &a, const ProgramUse &b) {
    Section section{"time", "When?", "At no time was more in use.", {}};
    Rows rows;
    for (std::size_t i = 0; i < kParts; ++i) {
        const std::size_t percent = 100 / kParts;
        rows.push_back(
            {fmt::format("{} to {} %", i * percent, (i + 1) * percent), a.most_in_part[i], b.most_in_part[i]});
    }
    const auto most = std::ranges::max_element(rows, {}, &Row::growth);
    if (most->growth() > 0) {
        section.answer = fmt::format("{} of the run: then {} were in use after {}, the largest growth.", most->name,
                                     analysis::bytes_words(most->after), analysis::bytes_words(most->before));
    }
    section.charts = {table_of("The most that was in use, by part of the run", "of the time", Unit::kBytes, rows)};
    return section;
}

}  // namespace

analysis::Document comparison_of(const ProgramUse &before, const ProgramUse &after) {
    analysis::Document document;
    document.title = fmt::format("What grew from {} to {}", before.file, after.file);
    document.facts = {{"A", fmt::format("{}, on {}", before.file, before.allocator)},
                      {"B", fmt::format("{}, on {}", after.file, after.allocator)}};
    for (const ProgramUse *const use : {&before, &after}) {
        if (!use->damage.empty()) document.notes.push_back(use->damage);
    }
    document.sections = {totals(before, after), sizes(before, after), sites(before, after), threads(before, after),
                         times(before, after)};
    return document;
}

}  // namespace gr::tool
