// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reporting/sections/lifetimes.hpp"

#include <fmt/format.h>

#include "reporting/charts/bucket_charts.hpp"
#include "reporting/charts/shades.hpp"
#include "reporting/document/words.hpp"

namespace gr::tool {

namespace {

const Axis kLifetimeAxis{"lifetime", Unit::seconds, Scale::log};

BarsChart bars_of(std::string title, Axis axis, const Counts &counts) {
    BarsChart chart;
    chart.title = std::move(title);
    chart.x = std::move(axis);
    chart.y = {"blocks freed per doubling", Unit::count};
    chart.is_cumulative = true;
    chart.is_per_doubling = true;
    BucketRange range;
    range.widen(counts);
    chart.edges = range.edges(1);
    chart.series = {{"blocks", range.shown(counts), {}}};
    return chart;
}

}  // namespace

Counts Lifetimes::total() const {
    Counts total{};
    for (const Row &row : by_slice_) {
        for (unsigned i = 0; i < kBuckets; ++i) total[i] += row[i];
    }
    return total;
}

BarsChart Lifetimes::by_time(const Counts &total) const {
    BarsChart chart = bars_of("Blocks by lifetime", kLifetimeAxis, total);
    BucketRange range;
    range.widen(total);
    chart.edges = range.edges(kSecondsPerUnit);
    chart.series = {{"blocks", {}, {}}};
    for (const Row &row : by_slice_) chart.series.front().slices.push_back(range.shown(row));
    return chart;
}

HeatChart Lifetimes::over_time() const {
    HeatChart chart;
    chart.title = "Lifetimes by the time of allocation";
    chart.x = {"time of allocation", Unit::time};
    chart.y = kLifetimeAxis;
    chart.scale = {"blocks", Unit::count, Scale::log};
    chart.x_edges = scope_.time.ends();
    std::vector<double> numbers(std::size_t{kBuckets} * TimeAxis::kColumns);
    for (std::uint32_t column = 0; column < TimeAxis::kColumns; ++column) {
        for (unsigned i = 0; i < kBuckets; ++i) numbers[i * TimeAxis::kColumns + column] = by_birth_[column][i];
    }
    fill(&chart, numbers, TimeAxis::kColumns, all_edges(kSecondsPerUnit));
    return chart;
}

HeatChart Lifetimes::size_against_lifetime() const {
    HeatChart chart;
    chart.title = "Size against lifetime";
    chart.x = {"requested size", Unit::bytes, Scale::log};
    chart.y = kLifetimeAxis;
    chart.scale = {"blocks", Unit::count, Scale::log};
    const auto is_used = [](const Row &row) {
        return std::any_of(row.begin(), row.end(), [](auto n) { return n != 0; });
    };
    unsigned columns = trace::kSizeBuckets;
    while (columns > 1 && !is_used(by_size_[columns - 1])) --columns;
    chart.x_edges = {0};
    std::vector<double> numbers(std::size_t{kBuckets} * columns);
    for (unsigned column = 0; column < columns; ++column) {
        chart.x_edges.push_back(static_cast<double>(trace::bucket_end(column)));
        for (unsigned i = 0; i < kBuckets; ++i) numbers[std::size_t{i} * columns + column] = by_size_[column][i];
    }
    fill(&chart, numbers, columns, all_edges(kSecondsPerUnit));
    return chart;
}

TableChart Lifetimes::table() const {
    const double lived = age_sum_ * kSecondsPerUnit;
    const double live_on =
        (static_cast<double>(live_) * static_cast<double>(last_.units) - live_born_) * kSecondsPerUnit;
    TableChart table;
    table.title = "Lifetimes";
    table.columns = {{"what", Unit::text}, {"lifetime", Unit::seconds}};
    table.rows = {{"mean, of blocks that were freed", ratio(lived, static_cast<double>(freed_))},
                  {"mean, of all", ratio(lived + live_on, static_cast<double>(freed_ + live_))},
                  {"shortest", static_cast<double>(shortest_) * kSecondsPerUnit},
                  {"longest, of blocks that were freed", static_cast<double>(longest_) * kSecondsPerUnit}};
    return table;
}

Section Lifetimes::section() const {
    Section section{"lifetimes", "How long do blocks live?", "", {}};
    if (freed_ == 0) {
        section.answer = live_ == 0 ? "There was no block." : "No block was freed.";
        return section;
    }
    const Counts total = this->total();
    const double longest = static_cast<double>(longest_) * kSecondsPerUnit;
    const auto below = [&](double share) {
        return time_words(std::min(quantile(total, share, kSecondsPerUnit), longest + kSecondsPerUnit));
    };
    const double meanwhile = quantile(by_bytes_, 0.5, 1);
    section.answer = fmt::format(
        "Half of the freed blocks lived less than {}, 90 % less than {}; the longest lived {} of the {} that the trace "
        "covers. Half of the freed blocks were freed before {} allocated. ",
        below(0.5), below(0.9), time_words(longest), time_words(seconds(scope_.trace.last()) + kSecondsPerUnit),
        meanwhile <= 1 ? "anything else was" : bytes_words(meanwhile) + " more were");
    section.answer += live_ == 0
                          ? "All blocks were freed."
                          : fmt::format("Of all blocks, {} were not freed.",
                                        share_words(static_cast<double>(live_), static_cast<double>(live_ + freed_)));
    section.charts = {by_time(total),
                      over_time(),
                      size_against_lifetime(),
                      bars_of("Blocks by the bytes that were allocated while they lived",
                              {"bytes allocated meanwhile", Unit::bytes, Scale::log}, by_bytes_),
                      bars_of("Blocks by the blocks that were allocated while they lived",
                              {"blocks allocated meanwhile", Unit::count, Scale::log}, by_births_),
                      table()};
    return section;
}

}  // namespace gr::tool
