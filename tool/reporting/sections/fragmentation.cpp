// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reporting/sections/fragmentation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "reporting/document/words.hpp"
#include "reporting/steps/samples.hpp"

namespace gr::tool {

namespace {

std::vector<double> quotients(const std::vector<double> &parts, const std::vector<double> &wholes) {
    std::vector<double> shares(parts.size());
    std::transform(parts.begin(), parts.end(), wholes.begin(), shares.begin(), [](double part, double whole) {
        return whole > 0 ? part / whole : std::numeric_limits<double>::quiet_NaN();
    });
    return shares;
}

std::vector<double> highest_so_far(std::vector<double> values) {
    double highest = 0;
    for (double &value : values) value = highest = std::max(highest, value);
    return values;
}

}  // namespace

std::vector<double> Fragmentation::page_bytes_over_time() const {
    std::vector<double> bytes = page_series_.values();
    for (double &value : bytes) value *= static_cast<double>(scope_.page_bytes());
    return bytes;
}

SeriesChart Fragmentation::bytes_over_time() const {
    SeriesChart chart;
    chart.title = "Bytes in use, the pages that hold them, and what is resident";
    chart.x = {"time", Unit::time};
    chart.y = {"bytes", Unit::bytes};
    chart.at = scope_.time.point_ends();
    chart.series = {{"in use", live_series_.values()}, {"pages with a block in use", page_bytes_over_time()}};
    if (!scope_.trace.samples().empty())
        chart.series.push_back({"resident", at_points(scope_, &trace::Sample::resident_bytes)});
    return chart;
}

SeriesChart Fragmentation::shares_over_time() const {
    SeriesChart chart;
    chart.title = "Memory held for each byte in use";
    chart.x = {"time", Unit::time};
    chart.y = {"bytes for each byte", Unit::count};
    chart.at = scope_.time.point_ends();
    const std::vector<double> live = live_series_.values();
    const std::vector<double> pages = page_bytes_over_time();
    chart.series = {{"bytes of pages with a block, for each byte in use", quotients(pages, live)},
                    {"peak of these pages so far, for each byte of the peak in use so far (blowup)",
                     quotients(highest_so_far(pages), highest_so_far(live))}};
    if (scope_.trace.samples().empty()) return chart;
    const std::vector<double> resident = at_points(scope_, &trace::Sample::resident_bytes);
    chart.series.push_back({"resident bytes, for each byte in use", quotients(resident, live)});
    chart.series.push_back(
        {"resident bytes, for each byte of the peak in use so far", quotients(resident, highest_so_far(live))});
    return chart;
}

TableChart Fragmentation::table() const {
    TableChart table;
    table.title = "Pages";
    table.columns = {{"when", Unit::text},
                     {"time", Unit::time},
                     {"bytes in use", Unit::bytes},
                     {"pages with a block", Unit::count},
                     {"bytes of these pages", Unit::bytes},
                     {"in use", Unit::fraction}};
    const auto add = [&](const char *when, const Moment &moment) {
        table.rows.push_back({when, seconds(moment.time), static_cast<double>(moment.live),
                              static_cast<double>(moment.pages), bytes_of(moment),
                              ratio(static_cast<double>(moment.live), bytes_of(moment))});
    };
    add("most bytes in use", most_live_);
    add("most pages with a block", most_pages_);
    add("at the end", {scope_.time.last(), live_, pages_});
    return table;
}

Section Fragmentation::section() const {
    Section section{"fragmentation", "How much memory is held that is not in use?", "", {}};
    if (most_pages_.pages == 0) {
        section.answer = "No page ever held a block.";
        return section;
    }
    const double blowup = ratio(bytes_of(most_pages_), static_cast<double>(most_live_.live));
    const auto live = static_cast<double>(most_live_.live);
    const trace::Sample *const highest = highest_resident(scope_);
    const double resident = highest == nullptr ? 0 : static_cast<double>(highest->resident_bytes);
    const bool is_untouched = highest != nullptr && resident < bytes_of(most_live_);
    const std::string filled = live < bytes_of(most_live_) ? share_words(live, bytes_of(most_live_)) : "100 %";
    const std::string times = count_words(blowup);
    section.answer = fmt::format(
        "At the peak, {} were in use, in {}{} {}. The pages that held a block were at most {} of memory: {} the peak "
        "of the bytes in use.",
        bytes_words(live), count_words(static_cast<double>(most_live_.pages), "page", "pages"),
        is_untouched ? ", of which the blocks covered" : ", filled to", filled, bytes_words(bytes_of(most_pages_)),
        times == "1" ? "about as much as" : times + " times");
    if (live_ != 0) {
        section.answer +=
            fmt::format(" At the end, {} in use occupied {} of pages.", bytes_words(static_cast<double>(live_)),
                        bytes_words(static_cast<double>(pages_) * static_cast<double>(scope_.page_bytes())));
    }
    if (highest != nullptr) {
        section.answer +=
            fmt::format(" At most {} were resident, including memory that is not from malloc.", bytes_words(resident));
    }
    if (is_untouched) {
        section.answer +=
            fmt::format(" So at the peak of the bytes in use, at least {} of these pages were not resident.",
                        bytes_words(bytes_of(most_live_) - resident));
    }
    section.charts = {bytes_over_time(), shares_over_time(), table()};
    return section;
}

}  // namespace gr::tool
