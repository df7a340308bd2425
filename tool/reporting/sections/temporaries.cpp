// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reporting/sections/temporaries.hpp"

#include <fmt/format.h>

#include <cmath>

#include "reporting/charts/site_table.hpp"
#include "reporting/document/words.hpp"

namespace gr::tool {

BarsChart Temporaries::sizes() const {
    BarsChart chart;
    chart.title = "Temporary blocks by size";
    chart.x = {"requested size", Unit::bytes, Scale::log};
    chart.y = {"blocks", Unit::count};
    chart.is_cumulative = true;
    std::size_t first = 0;
    std::size_t behind = by_size_.size();
    while (behind > 1 && by_size_[behind - 1] == 0) --behind;
    while (first + 1 < behind && by_size_[first] == 0) ++first;
    chart.edges = {first == 0 ? 0 : static_cast<double>(trace::bucket_end(static_cast<unsigned>(first) - 1))};
    BarsChart::Series series{"temporary blocks", {}, {}};
    for (std::size_t i = first; i < behind; ++i) {
        chart.edges.push_back(static_cast<double>(trace::bucket_end(static_cast<unsigned>(i))));
        series.values.push_back(static_cast<double>(by_size_[i]));
    }
    chart.series = {std::move(series)};
    return chart;
}

Section Temporaries::section(CallSites &sites) const {
    Section section{"temporaries", "Which blocks are freed by the very next call?", "", {}};
    if (births_ == 0) {
        section.answer = "There was no block.";
        return section;
    }
    const auto all = static_cast<double>(births_);
    const auto temporary = static_cast<double>(temporaries_);
    section.answer =
        temporaries_ == 0
            ? "None: no block was freed by the next call of the thread that allocated it."
            : fmt::format("{}: {} of all blocks, {} in total. Such blocks could live on the stack or be reused.",
                          count_words(temporary, "block", "blocks"), share_words(temporary, all),
                          bytes_words(static_cast<double>(bytes_)));
    if (moved_on_ != 0) {
        section.answer += fmt::format(" {} resized by the next call.",
                                      count_words(static_cast<double>(moved_on_), "more was", "more were"));
    }
    if (temporaries_ == 0) return section;
    section.charts = {sizes()};
    SiteTable table("Temporary blocks, by function",
                    {{"temporary blocks", Unit::count}, {"all blocks", Unit::count}, {"temporary bytes", Unit::bytes}},
                    sites);
    for (std::uint32_t stack = 1; stack < by_stack_.size(); ++stack) {
        const Stack &one = by_stack_[stack];
        if (one.temporaries == 0) continue;
        table.add(trace::StackNumber{stack},
                  {std::round(one.temporaries), std::round(one.births), std::round(one.bytes)});
    }
    TableChart chart = table.chart();
    if (chart.rows.empty()) {
        section.answer += " The functions that wanted them are unknown: none of these blocks has a call stack.";
    } else {
        chart.title += scope_.if_estimated(kEstimated);
        section.answer += fmt::format(" {}{} requested {}.", scope_.if_estimated(kBySamples), table.largest(),
                                      temporaries_ == 1 ? "it" : "the most of them");
        section.charts.emplace_back(std::move(chart));
    }
    return section;
}

}  // namespace gr::tool
