// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reporting/sections/footprint.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "reporting/document/words.hpp"
#include "reporting/steps/samples.hpp"

namespace gr::tool {

double Footprint::Level::mean(std::uint64_t passed, std::uint64_t behind) const {
    const double all = sum + static_cast<double>(now) * static_cast<double>(behind);
    return passed == 0 ? static_cast<double>(now) : all / static_cast<double>(passed);
}

SeriesChart Footprint::bytes_over_time() const {
    SeriesChart chart;
    chart.title = "Bytes in use, and resident";
    chart.x = {"time", Unit::time};
    chart.y = {"bytes", Unit::bytes};
    chart.at = scope_.time.point_ends();
    chart.series = {{"in use", bytes_.series.values()}};
    if (scope_.trace.samples().empty()) return chart;
    chart.series.push_back({"resident", at_points(scope_, &trace::Sample::resident_bytes)});
    chart.series.push_back({"anonymous", at_points(scope_, &trace::Sample::anonymous_bytes)});
    chart.series.push_back({"returned lazily", at_points(scope_, &trace::Sample::lazy_free_bytes)});
    chart.series.push_back({"in huge pages", at_points(scope_, &trace::Sample::huge_bytes)});
    return chart;
}

// In a short window what is in use changes by so little that beside all of it nothing would be seen.
SeriesChart Footprint::change_over_time() const {
    SeriesChart chart;
    chart.title = "Change of the bytes in use since the start of this time";
    chart.x = {"time", Unit::time};
    chart.y = {"bytes", Unit::bytes};
    chart.at = scope_.time.point_ends();
    std::vector<double> values = bytes_.series.values();
    for (double &value : values) value -= static_cast<double>(bytes_at_begin_);
    chart.series = {{"change since the start", std::move(values)}};
    return chart;
}

SeriesChart Footprint::blocks_over_time() const {
    SeriesChart chart;
    chart.title = "Blocks in use";
    chart.x = {"time", Unit::time};
    chart.y = {"blocks", Unit::count};
    chart.at = scope_.time.point_ends();
    chart.series = {{"in use", blocks_.series.values()}};
    return chart;
}

TableChart Footprint::table() const {
    TableChart table;
    table.title = "In use";
    table.columns = {{"what", Unit::text}, {"bytes", Unit::bytes}, {"blocks", Unit::count}};
    const std::uint64_t behind = scope_.is_window ? scope_.time.last().units - last_.units : 0;
    const std::uint64_t passed = last_.units - first_.units + behind;
    table.rows = {{"mean over time", bytes_.mean(passed, behind), blocks_.mean(passed, behind)},
                  {"most", static_cast<double>(bytes_.peak), static_cast<double>(blocks_.peak)},
                  {"at the end", static_cast<double>(bytes_.now), static_cast<double>(blocks_.now)}};
    return table;
}

Section Footprint::section() const {
    Section section{"footprint", "How much is in use?", "", {}};
    if (!has_begun_) {
        section.answer = "No block was ever in use.";
        return section;
    }
    section.answer = fmt::format(
        "At most {} were in use, {} after the start. At most {} in use at one time. At the end, {} in {} "
        "were in use.",
        bytes_words(static_cast<double>(bytes_.peak)), time_words(seconds(bytes_.peak_time)),
        count_words(static_cast<double>(blocks_.peak), "block was", "blocks were"),
        bytes_words(static_cast<double>(bytes_.now)), count_words(static_cast<double>(blocks_.now), "block", "blocks"));
    if (const trace::Sample *const highest = highest_resident(scope_)) {
        section.answer +=
            fmt::format(" The process had at most {} resident, {} after the start.",
                        bytes_words(static_cast<double>(highest->resident_bytes)), time_words(seconds(highest->time)));
    }
    section.charts = {bytes_over_time(), blocks_over_time(), table()};
    if (scope_.is_window) section.charts.insert(section.charts.begin() + 1, change_over_time());
    return section;
}

}  // namespace gr::tool
