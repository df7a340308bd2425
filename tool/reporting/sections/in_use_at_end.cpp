// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reporting/sections/in_use_at_end.hpp"

#include <fmt/format.h>

#include "reporting/charts/site_table.hpp"
#include "reporting/document/words.hpp"

namespace gr::tool {

void InUseAtEnd::look(const trace::LiveSet &live) {
    live.for_each([&](const trace::Block &block) {
        by_size_[trace::size_bucket(block.size)].add(block.size);
        by_birth_[scope_.time.point_of(block.born)].add(block.size);
        by_thread_[scope_.threads.of(block.thread)].add(block.size);
        all_.add(block.size);
    });
}

SeriesChart InUseAtEnd::by_birth() const {
    SeriesChart chart;
    chart.title = "Bytes in use at the end, by time of allocation (cumulative)";
    chart.x = {"time of allocation", Unit::time};
    chart.y = {"bytes", Unit::bytes};
    chart.at = scope_.time.point_ends();
    std::vector<double> values;
    double sum = 0;
    for (const Sum &point : by_birth_) values.push_back(sum += static_cast<double>(point.bytes));
    chart.series = {{"allocated by then and never freed", std::move(values)}};
    return chart;
}

TableChart InUseAtEnd::by_size() const {
    TableChart table;
    table.title = "In use at the end, by size";
    table.columns = {{"above", Unit::bytes}, {"up to", Unit::bytes}, {"blocks", Unit::count}, {"bytes", Unit::bytes}};
    for (unsigned i = 0; i < trace::kSizeBuckets; ++i) {
        if (by_size_[i].blocks == 0) continue;
        table.rows.push_back({i == 0 ? 0.0 : static_cast<double>(trace::bucket_end(i - 1)),
                              static_cast<double>(trace::bucket_end(i)), static_cast<double>(by_size_[i].blocks),
                              static_cast<double>(by_size_[i].bytes)});
    }
    return table;
}

TableChart InUseAtEnd::by_thread() const {
    TableChart table;
    table.title = "In use at the end, by the thread that allocated";
    table.columns = {{"thread", Unit::text}, {"blocks", Unit::count}, {"bytes", Unit::bytes}};
    for (std::uint32_t group = 0; group < by_thread_.size(); ++group) {
        if (by_thread_[group].blocks == 0) continue;
        table.rows.push_back({scope_.threads.name(group), static_cast<double>(by_thread_[group].blocks),
                              static_cast<double>(by_thread_[group].bytes)});
    }
    return table;
}

Section InUseAtEnd::section(const StackTotals &totals, const ShownThreads &threads, CallSites &sites) const {
    Section section{"leaks", "What was still in use at the end?", "", {}};
    if (all_.blocks == 0) {
        section.answer = "Nothing: every block was freed.";
        return section;
    }
    section.answer = fmt::format("{} of {}.", count_words(static_cast<double>(all_.blocks), "block", "blocks"),
                                 bytes_words(static_cast<double>(all_.bytes)));
    section.charts = {by_birth(), by_size()};
    if (by_thread_.size() > 1) section.charts.emplace_back(by_thread());
    SiteTable table("In use at the end, by function", {{"bytes", Unit::bytes}, {"blocks", Unit::count}}, sites);
    double bytes = 0;
    const std::size_t stacks = scope_.has_stacks() ? totals.count() : 0;
    for (std::uint32_t stack = 0; stack < stacks; ++stack) {
        const StackSum sum = totals.at_end(stack);
        if (sum.blocks <= 0) continue;
        table.add(trace::StackNumber{stack}, {sum.bytes, sum.blocks});
        bytes += sum.bytes;
        if (!threads.are_told_apart()) continue;
        for (const StackTotals::Share &share : totals.shares(stack)) {
            if (share.at_end.blocks > 0)
                table.add_of_thread(threads.of(share.group), trace::StackNumber{stack},
                                    {share.at_end.bytes, share.at_end.blocks});
        }
    }
    TableChart chart = table.chart();
    if (chart.rows.empty()) {
        section.answer += scope_.has_stacks()
                              ? " None of these blocks has a call stack."
                              : " The functions that wanted these blocks are unknown: call stacks were not recorded.";
    } else {
        const double largest = std::get<double>(chart.rows.front()[1]);
        const char *const all = scope_.has_sampled_stacks() ? " Every sampled stack of these blocks leads to {}."
                                                            : " All of these bytes come from {}.";
        section.answer +=
            largest == bytes
                ? fmt::format(fmt::runtime(all), table.largest())
                : fmt::format(" The largest part, {}, comes from {}.",
                              about(share_words(largest, bytes), scope_.has_sampled_stacks()), table.largest());
        chart.title += scope_.if_estimated(kEstimated);
        section.charts.emplace_back(std::move(chart));
    }
    return section;
}

}  // namespace gr::tool
