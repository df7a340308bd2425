// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reporting/sections/intervals.hpp"

#include <fmt/format.h>

#include "reporting/charts/bucket_charts.hpp"
#include "reporting/document/words.hpp"

namespace gr::tool {

Section Intervals::section() const {
    static constexpr std::array<const char *, kKinds> kNames{"all requests", "allocations", "frees",
                                                             "requests of one thread"};
    Section section{"intervals", "How much time passes from one request to the next?", "", {}};
    const Kind &all = kinds_[kAll];
    if (all.intervals == 0) {
        section.answer = "There were fewer than two requests.";
        return section;
    }
    section.answer = fmt::format(
        "Half of all requests came less than {} after the previous request, 90 % less than {}; the average was {}. The "
        "longest pause was {}.",
        time_words(quantile(all.counts, 0.5, kSecondsPerUnit)), time_words(quantile(all.counts, 0.9, kSecondsPerUnit)),
        time_words(static_cast<double>(all.sum) / static_cast<double>(all.intervals) * kSecondsPerUnit),
        time_words(static_cast<double>(all.longest) * kSecondsPerUnit));
    BarsChart bars;
    bars.title = "Requests by the time since the previous request";
    bars.x = {"time since the previous request", Unit::seconds, Scale::log};
    bars.y = {"requests per doubling", Unit::count};
    bars.is_cumulative = true;
    bars.is_per_doubling = true;
    TableChart table;
    table.title = "Times between requests";
    table.columns = {{"between", Unit::text},
                     {"intervals", Unit::count},
                     {"mean", Unit::seconds},
                     {"shortest", Unit::seconds},
                     {"longest", Unit::seconds}};
    BucketRange range;
    for (const Kind &kind : kinds_) range.widen(kind.counts);
    bars.edges = range.edges(kSecondsPerUnit);
    for (unsigned i = 0; i < kKinds; ++i) {
        const Kind &kind = kinds_[i];
        if (kind.intervals == 0) continue;
        const auto count = static_cast<double>(kind.intervals);
        bars.series.push_back({kNames[i], range.shown(kind.counts), {}});
        table.rows.push_back({kNames[i], count, static_cast<double>(kind.sum) / count * kSecondsPerUnit,
                              static_cast<double>(kind.shortest) * kSecondsPerUnit,
                              static_cast<double>(kind.longest) * kSecondsPerUnit});
    }
    section.charts = {std::move(bars), std::move(table)};
    return section;
}

}  // namespace gr::tool
