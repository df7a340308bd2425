// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reporting/sections/threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "reporting/document/words.hpp"

namespace gr::tool {

MatrixChart Threads::matrix(std::uint64_t Sum::*number, Unit unit) const {
    MatrixChart chart;
    chart.title = unit == Unit::bytes ? "Who frees whose bytes" : "Who frees whose blocks";
    chart.rows = chart.columns = scope_.threads.names();
    chart.row_label = "allocated by";
    chart.column_label = "freed by";
    chart.unit = unit;
    for (std::uint32_t of = 0; of < groups_; ++of) {
        std::vector<double> &row = chart.values.emplace_back();
        for (std::uint32_t by = 0; by < groups_; ++by)
            row.push_back(static_cast<double>(freed_[std::size_t{of} * groups_ + by].*number));
    }
    return chart;
}

SeriesChart Threads::over_time() const {
    SeriesChart chart;
    chart.title = "Frees per second, of own blocks and of other threads' blocks";
    chart.x = {"time", Unit::time};
    chart.y = {"frees per second", Unit::per_second};
    chart.is_stacked = true;
    chart.at = scope_.time.point_ends();
    chart.series = {{"own", scope_.time.rates(own_)}, {"other threads'", scope_.time.rates(remote_)}};
    return chart;
}

TableChart Threads::table() const {
    TableChart table;
    table.title = "Threads";
    table.columns = {{"thread", Unit::text},
                     {"blocks allocated", Unit::count},
                     {"bytes allocated", Unit::bytes},
                     {"most in use", Unit::bytes},
                     {"when", Unit::time},
                     {"blocks freed", Unit::count},
                     {"own blocks freed", Unit::count},
                     {"other threads' blocks freed", Unit::count},
                     {"own blocks freed by other threads", Unit::count}};
    for (std::uint32_t group = 0; group < groups_; ++group) {
        std::uint64_t by_it = 0;
        std::uint64_t of_it = 0;
        for (std::uint32_t other = 0; other < groups_; ++other) {
            by_it += freed_[std::size_t{other} * groups_ + group].blocks;
            of_it += freed_[std::size_t{group} * groups_ + other].blocks;
        }
        const std::uint64_t own = freed_[std::size_t{group} * groups_ + group].blocks;
        table.rows.push_back({scope_.threads.name(group), static_cast<double>(allocated_[group].blocks),
                              static_cast<double>(allocated_[group].bytes), static_cast<double>(live_[group].most),
                              trace::seconds(live_[group].when), static_cast<double>(by_it), static_cast<double>(own),
                              static_cast<double>(by_it - own), static_cast<double>(of_it - own)});
    }
    return table;
}

Section Threads::section() const {
    Section section{"threads", "Which threads allocate, and which free?", "", {}};
    const std::size_t threads = scope_.trace.threads().size();
    const double own = std::accumulate(own_.begin(), own_.end(), 0.0);
    const double remote = std::accumulate(remote_.begin(), remote_.end(), 0.0);
    if (threads < 2) {
        section.answer = threads == 0 ? "No thread called the allocator." : "Only one thread called the allocator.";
        return section;
    }
    std::uint64_t most = 0;
    double all = 0;
    for (const Sum &sum : allocated_) {
        most = std::max(most, sum.blocks);
        all += static_cast<double>(sum.blocks);
    }
    const auto busiest = std::max_element(allocated_.begin(), allocated_.end(),
                                          [](const Sum &a, const Sum &b) { return a.blocks < b.blocks; });
    const auto number = static_cast<std::uint32_t>(busiest - allocated_.begin());
    section.answer = fmt::format("{} threads called the allocator. {} ", threads, scope_.threads.name(number));
    section.answer += static_cast<double>(most) == all ? "allocated every block."
                                                       : fmt::format("allocated the most: {} of all blocks.",
                                                                     share_words(static_cast<double>(most), all));
    section.answer +=
        remote == 0 ? " No thread freed a block that another thread had allocated."
                    : fmt::format(" {} of a block that another thread had allocated: {} of all frees.",
                                  count_words(remote, "free was", "frees were"), share_words(remote, own + remote));
    if (scope_.threads.others() > 1) {
        section.answer += fmt::format(" The {} least active threads are shown together.", scope_.threads.others());
    }
    section.charts = {matrix(&Sum::blocks, Unit::count), matrix(&Sum::bytes, Unit::bytes), over_time(), table()};
    return section;
}

}  // namespace gr::tool
