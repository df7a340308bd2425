// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reporting/sections/sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "reporting/charts/shades.hpp"
#include "reporting/document/words.hpp"
#include "reporting/steps/op_names.hpp"

namespace gr::tool {

// Of the whole trace, and which buckets are worth showing.
struct Sizes::Total {
    Sizewise counts{};
    double blocks = 0;
    double bytes = 0;
    unsigned first = 0;
    unsigned behind = 0;
    unsigned most = 0;  // the most common

    [[nodiscard]] std::vector<double> edges() const {
        std::vector<double> edges{first == 0 ? 0 : static_cast<double>(trace::bucket_end(first - 1))};
        for (unsigned i = first; i < behind; ++i) edges.push_back(static_cast<double>(trace::bucket_end(i)));
        return edges;
    }
    template <class Numbers>
    [[nodiscard]] std::vector<double> shown(const Numbers &numbers) const {
        return {numbers.begin() + first, numbers.begin() + behind};
    }
    [[nodiscard]] BarsChart bars(std::string title) const {
        BarsChart chart;
        chart.title = std::move(title);
        chart.x = {"requested size", Unit::bytes, Scale::log};
        chart.y = {"blocks", Unit::count};
        chart.edges = edges();
        return chart;
    }
};

Sizes::Total Sizes::total() const {
    Total total;
    for (const auto &column : by_column_) {
        for (unsigned i = 0; i < trace::kSizeBuckets; ++i) total.counts[i] += column[i];
    }
    const auto is_any = [](std::uint64_t count) { return count != 0; };
    const auto &counts = total.counts;
    total.first = static_cast<unsigned>(std::find_if(counts.begin(), counts.end(), is_any) - counts.begin());
    total.behind = static_cast<unsigned>(std::find_if(counts.rbegin(), counts.rend(), is_any).base() - counts.begin());
    total.most = static_cast<unsigned>(std::max_element(counts.begin(), counts.end()) - counts.begin());
    total.blocks = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
    total.bytes = static_cast<double>(std::accumulate(bytes_.begin(), bytes_.end(), std::uint64_t{0}));
    return total;
}

BarsChart Sizes::by_time(const Total &total) const {
    BarsChart chart = total.bars("Blocks by size");
    chart.is_cumulative = true;
    BarsChart::Series series{"blocks", {}, std::vector(TimeAxis::kSlices, std::vector<double>(chart.edges.size() - 1))};
    constexpr std::uint32_t kColumnsPerSlice = TimeAxis::kColumns / TimeAxis::kSlices;
    for (std::uint32_t column = 0; column < TimeAxis::kColumns; ++column) {
        std::vector<double> &slice = series.slices[column / kColumnsPerSlice];
        for (unsigned i = total.first; i < total.behind; ++i) slice[i - total.first] += by_column_[column][i];
    }
    chart.series.push_back(std::move(series));
    return chart;
}

BarsChart Sizes::by_op(const Total &total) const {
    BarsChart chart = total.bars("Blocks by size and by the function that was called");
    for (std::size_t op = 0; op < by_op_.size(); ++op) {
        if (std::all_of(by_op_[op].begin(), by_op_[op].end(), [](auto count) { return count == 0; })) continue;
        chart.series.push_back({op_name(trace::Op(op)), total.shown(by_op_[op]), {}});
    }
    return chart;
}

BarsChart Sizes::by_thread(const Total &total) const {
    BarsChart chart = total.bars("Blocks by size and thread");
    for (std::uint32_t group = 0; group < by_thread_.size(); ++group)
        chart.series.push_back({scope_.threads.name(group), total.shown(by_thread_[group]), {}});
    return chart;
}

HeatChart Sizes::over_time() const {
    HeatChart chart;
    chart.title = "Sizes over time";
    chart.x = {"time", Unit::time};
    chart.y = {"requested size", Unit::bytes, Scale::log};
    chart.scale = {"blocks", Unit::count, Scale::log};
    chart.x_edges = scope_.time.ends();
    std::vector<double> numbers(std::size_t{trace::kSizeBuckets} * TimeAxis::kColumns);
    std::vector<double> edges{0};
    for (unsigned i = 0; i < trace::kSizeBuckets; ++i) {
        edges.push_back(static_cast<double>(trace::bucket_end(i)));
        for (std::uint32_t k = 0; k < TimeAxis::kColumns; ++k) numbers[i * TimeAxis::kColumns + k] = by_column_[k][i];
    }
    fill(&chart, numbers, TimeAxis::kColumns, edges);
    return chart;
}

TableChart Sizes::table(const Total &total) const {
    TableChart table;
    table.title = "Requested sizes, and the bytes after rounding to size classes";
    table.columns = {{"above", Unit::bytes},
                     {"up to", Unit::bytes},
                     {"blocks", Unit::count},
                     {"share", Unit::fraction},
                     {"bytes", Unit::bytes},
                     {"rounded to Granary's classes", Unit::bytes},
                     {"rounded to powers of two", Unit::bytes}};
    const std::vector<double> edges = total.edges();
    for (unsigned i = total.first; i < total.behind; ++i) {
        if (total.counts[i] == 0) continue;
        const auto count = static_cast<double>(total.counts[i]);
        table.rows.push_back({edges[i - total.first], edges[i - total.first + 1], count, count / total.blocks,
                              static_cast<double>(bytes_[i]), static_cast<double>(in_granary_[i]),
                              static_cast<double>(in_powers_[i])});
    }
    return table;
}

Section Sizes::section() const {
    Section section{"sizes", "How large are the blocks that the program requests?", "", {}};
    const Total total = this->total();
    if (total.blocks == 0) {
        section.answer = "No allocation succeeded.";
        return section;
    }
    const auto sum_of = [](const Sizewise &numbers) {
        return static_cast<double>(std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0}));
    };
    const double granary = sum_of(in_granary_);
    const double powers = sum_of(in_powers_);
    const std::uint64_t above = total.most == 0 ? 0 : trace::bucket_end(total.most - 1) + 1;
    section.answer = fmt::format(
        "The program requested {}: {} in total, {} on average. The smallest has {}, the largest {}. The most common "
        "sizes are {} to {} bytes: {} of the blocks. Rounding to Granary's size classes would add {} of the requested "
        "bytes, rounding to powers of two {}.",
        count_words(total.blocks, "block", "blocks"), bytes_words(total.bytes), bytes_words(total.bytes / total.blocks),
        bytes_words(static_cast<double>(smallest_)), bytes_words(static_cast<double>(largest_)), above,
        trace::bucket_end(total.most), share_words(static_cast<double>(total.counts[total.most]), total.blocks),
        share_words(granary - total.bytes, total.bytes), share_words(powers - total.bytes, total.bytes));
    section.charts = {by_time(total), by_op(total)};
    if (by_thread_.size() > 1) section.charts.emplace_back(by_thread(total));
    section.charts.emplace_back(over_time());
    section.charts.emplace_back(table(total));
    return section;
}

}  // namespace gr::tool
