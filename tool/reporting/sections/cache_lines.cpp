// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: cache_lines.hpp.
// Invariant: as there. A line's entries stand at its begin, in no order.
// Must not know: who reads or writes the blocks.
#include "reporting/sections/cache_lines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reporting/document/words.hpp"

namespace gr::tool {

bool CacheLines::has(const Line &line, std::uint8_t group) { return std::ranges::find(line, group) != line.end(); }

CacheLines::Pair &CacheLines::pair_of(std::uint8_t one, std::uint8_t other) {
    const auto [low, high] = std::minmax(one, other);
    return pairs_[std::size_t{low - 1U} * groups_ + (high - 1U)];
}

template <class Use>
void CacheLines::with_others(const Line &line, std::uint8_t group, Use use) {
    for (auto at = line.begin(); at != line.end() && *at != 0; ++at) {
        if (*at != group && std::find(line.begin(), at, *at) == at) use(*at);
    }
}

void CacheLines::enter_beside(Line &line, std::uint8_t group) {
    const auto free = std::ranges::find(line, std::uint8_t{0});
    if (free == line.end()) return;
    if (!has(line, group)) {
        if (std::all_of(line.begin(), free, [&](std::uint8_t other) { return other == line[0]; })) {
            ++shared_;
            ++times_;
            most_shared_ = std::max(most_shared_, shared_);
        }
        with_others(line, group, [&](std::uint8_t other) {
            Pair &pair = pair_of(group, other);
            ++pair.times;
            pair.most = std::max(pair.most, ++pair.now);
        });
    }
    *free = group;
}

void CacheLines::leave_others(Line &line, std::uint8_t group) {
    const auto own = std::ranges::find(line, group);
    if (own == line.end()) return;
    const auto last = std::ranges::find(line, std::uint8_t{0}) - 1;
    *own = *last;
    *last = 0;
    if (line[0] == 0 || has(line, group)) return;
    with_others(line, group, [&](std::uint8_t other) { --pair_of(group, other).now; });
    if (std::all_of(line.begin(), last, [&](std::uint8_t other) { return other == line[0]; })) --shared_;
}

// Lines that are shared by then have not come to be so in this window.
void CacheLines::begun(const Step & /*step*/) {
    times_ = 0;
    for (Pair &pair : pairs_) pair.times = 0;
}

Section CacheLines::section() const {
    Section section{"lines", "Do blocks of different threads share cache lines?", "", {}};
    if (groups_ < 2) {
        section.answer = "No: only one thread allocated blocks.";
        return section;
    }
    if (most_shared_ == 0) {
        section.answer = "No: no cache line of 64 bytes ever held blocks that different threads had allocated.";
        return section;
    }
    section.answer = fmt::format(
        "At most {} of 64 bytes held blocks of more than one thread at one time; lines entered this state {}. If the "
        "threads write to such blocks often, they slow each other down.",
        count_words(static_cast<double>(most_shared_), "line", "lines"),
        count_words(static_cast<double>(times_), "time", "times"));
    SeriesChart chart;
    chart.title = "Lines with blocks of more than one thread";
    chart.x = {"time", Unit::time};
    chart.y = {"lines", Unit::count};
    chart.at = scope_.time.point_ends();
    chart.series = {{"shared lines", shared_series_.values()}};
    TableChart table;
    table.title = "Threads whose blocks share lines";
    table.columns = {{"thread", Unit::text},
                     {"other thread", Unit::text},
                     {"times", Unit::count},
                     {"most lines at a time", Unit::count},
                     {"lines at the end", Unit::count}};
    for (std::uint32_t one = 0; one < groups_; ++one) {
        for (std::uint32_t other = one + 1; other < groups_; ++other) {
            const Pair &pair = pairs_[std::size_t{one} * groups_ + other];
            if (pair.most == 0) continue;
            table.rows.push_back({scope_.threads.name(one), scope_.threads.name(other), static_cast<double>(pair.times),
                                  static_cast<double>(pair.most), static_cast<double>(pair.now)});
        }
    }
    std::ranges::stable_sort(
        table.rows, [](const auto &a, const auto &b) { return std::get<double>(a[2]) > std::get<double>(b[2]); });
    section.charts = {std::move(chart), std::move(table)};
    return section;
}

}  // namespace gr::tool
