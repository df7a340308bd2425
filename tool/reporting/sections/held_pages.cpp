// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: held_pages.hpp.
// Invariant: the pages between the first and the last of a block are its own, and full.
// Must not know: what the allocator keeps in pages besides.
#include "reporting/sections/held_pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reporting/charts/site_table.hpp"
#include "reporting/document/words.hpp"

namespace gr::tool {

HeldPages::Pages HeldPages::pages_of(const trace::LiveSet &live) {
    Pages pages;
    live.for_each([&](const trace::Block &block) {
        const Span span = span_of(block, page_log_);
        const auto take = [&](std::uint64_t number) {
            Page &page = pages[number];
            page.bytes += bytes_within(block, number, page_log_);
            ++page.blocks;
        };
        take(span.first);
        if (span.last == span.first) return;
        take(span.last);
        const std::uint64_t between = span.count() - 2;
        pages_ += between;
        by_fill_[kTenths - 1] += between;
    });
    return pages;
}

void HeldPages::share_out(const trace::Block &block, const Pages &pages) {
    const Span span = span_of(block, page_log_);
    Held held;
    const auto take = [&](std::uint64_t number) {
        const Page &page = pages.at(number);
        const double free = page_bytes() - static_cast<double>(page.bytes);
        if (free <= page_bytes() * (1 - kSparse)) return;
        held.bytes += free / page.blocks;
        held.pages += 1.0 / page.blocks;
        held.blocks = 1;
    };
    take(span.first);
    if (span.last != span.first) take(span.last);
    if (held.blocks == 0) return;
    const auto add = [&](Held &sum, double times) {
        sum.bytes += held.bytes * times;
        sum.pages += held.pages * times;
        sum.blocks += held.blocks * times;
    };
    add(by_size_[trace::size_bucket(block.size)], 1);
    const std::uint32_t stack = trace::number_of(block.stack);
    const bool is_all = scope_.trace.start().stacks == trace::Stacks::all;
    if (stack < by_stack_.size() && (stack != 0 || is_all)) add(by_stack_[stack], scope_.blocks_stood_for(block.size));
}

void HeldPages::look(const trace::LiveSet &live) {
    const Pages pages = pages_of(live);
    pages_ += pages.size();
    for (const auto &[number, page] : pages) {
        const double fill = std::min(1.0, static_cast<double>(page.bytes) / page_bytes());
        const auto tenth = static_cast<std::size_t>(std::floor(fill * kTenths));
        ++by_fill_[std::min(tenth, kTenths - 1)];
        if (fill >= kSparse) continue;
        ++sparse_pages_;
        held_ += page_bytes() - static_cast<double>(page.bytes);
        in_use_ += static_cast<double>(page.bytes);
    }
    live.for_each([&](const trace::Block &block) { share_out(block, pages); });
}

BarsChart HeldPages::by_fill() const {
    BarsChart chart;
    chart.title = "Pages by how much of them is in use";
    chart.x = {"in use", Unit::fraction};
    chart.y = {"pages", Unit::count};
    BarsChart::Series series{"pages", {}, {}};
    for (std::size_t i = 0; i <= kTenths; ++i) chart.edges.push_back(static_cast<double>(i) / kTenths);
    for (const std::uint64_t pages : by_fill_) series.values.push_back(static_cast<double>(pages));
    chart.series = {std::move(series)};
    return chart;
}

TableChart HeldPages::by_size() const {
    TableChart table;
    table.title = "Blocks that hold sparse pages, by size";
    table.columns = {{"above", Unit::bytes},
                     {"up to", Unit::bytes},
                     {"free bytes held", Unit::bytes},
                     {"pages", Unit::count},
                     {"blocks", Unit::count}};
    for (unsigned i = 0; i < trace::kSizeBuckets; ++i) {
        if (by_size_[i].blocks == 0) continue;
        table.rows.push_back({i == 0 ? 0.0 : static_cast<double>(trace::bucket_end(i - 1)),
                              static_cast<double>(trace::bucket_end(i)), by_size_[i].bytes, by_size_[i].pages,
                              by_size_[i].blocks});
    }
    return table;
}

std::string HeldPages::question(const std::string &when) {
    return fmt::format("Which blocks prevented the return of pages to the OS {}?", when);
}

Section HeldPages::section(CallSites &sites) const {
    Section section{"held-" + id_, question(when_), "", {}};
    if (pages_ == 0) {
        section.answer = "No page held a block at that time.";
        return section;
    }
    section.answer = fmt::format(
        "{} of {} that held a block {} less than a quarter full: because of {} in use, {} could not be returned to the "
        "OS.",
        count_words(static_cast<double>(sparse_pages_)), count_words(static_cast<double>(pages_), "page", "pages"),
        sparse_pages_ == 1 ? "was" : "were", bytes_words(in_use_), bytes_words(held_));
    section.charts = {by_fill()};
    if (sparse_pages_ == 0) {
        section.answer = fmt::format("None of {} that held a block was less than a quarter full.",
                                     count_words(static_cast<double>(pages_), "page", "pages"));
        return section;
    }
    section.charts.emplace_back(by_size());
    SiteTable table("Blocks that hold sparse pages, by function",
                    {{"free bytes held", Unit::bytes}, {"pages", Unit::count}, {"blocks", Unit::count}}, sites);
    for (std::uint32_t stack = 0; stack < by_stack_.size(); ++stack) {
        const Held &held = by_stack_[stack];
        if (held.blocks <= 0) continue;
        table.add(trace::StackNumber{stack}, {held.bytes, held.pages, std::round(held.blocks)});
    }
    TableChart chart = table.chart();
    if (chart.rows.empty()) {
        section.answer += scope_.has_stacks()
                              ? " The blocks in these pages have no call stack."
                              : " The functions that wanted these blocks are unknown: call stacks were not recorded.";
        return section;
    }
    const char *const largest = scope_.has_sampled_stacks()
                                    ? " By the sampled stacks, the largest part of that is held by blocks from {}."
                                    : " The largest part of that is held by blocks from {}.";
    section.answer += fmt::format(fmt::runtime(largest), table.largest());
    chart.title += scope_.if_estimated(kEstimated);
    section.charts.emplace_back(std::move(chart));
    return section;
}

}  // namespace gr::tool
