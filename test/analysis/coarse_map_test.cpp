// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the memory map of blocks that lie in more pages than it has cells, and in more stretches than it has rows, against a plain
//    count.
// Invariant: cells are as fine as they can be; what a row is filled to is what a plain count finds in the cells that it stands for.
// Must not know: how cells become coarser.
#include <algorithm>
#include <bit>
#include <set>

#include "analysis/history.hpp"
#include "reporting/charts/address_grid.hpp"
#include "reporting/charts/shades.hpp"
#include "reporting/sections/memory_map.hpp"

namespace gr::tool::coarse_map_test {

struct Shape {
    unsigned stretches;
    std::uint64_t stretch_bytes;
    std::uint64_t largest;  // block
    bool is_coarse;         // than a page
};

std::uint64_t end_of(const Event &birth) { return birth.address + std::max<std::uint64_t>(birth.size, 1); }

// Blocks come and go, some sixty at a time.
History history_of(const Shape &shape) {
    constexpr std::size_t kEvents = 3000;
    constexpr std::size_t kLive = 60;
    std::mt19937_64 random(shape.stretches);
    std::vector<Event> events;
    std::map<std::uint64_t, std::uint64_t> used;  // address, end
    std::uint64_t time = 0;
    while (events.size() < kEvents) {
        Event event;
        event.time = Time{time += 1 + random() % 9};
        if (used.size() > random() % (2 * kLive)) {
            auto at = used.begin();
            std::advance(at, random() % used.size());
            event.op = Op::free;
            event.address = at->first;
            used.erase(at);
        } else {
            event.op = Op::malloc;
            event.size = random() % (shape.largest >> random() % 8);
            const std::uint64_t stretch = random() % shape.stretches;
            // Each farther away than the one before is wide, and by other distances.
            event.address = 0x10000000 + stretch * stretch * 0x100000 + stretch * 4 * shape.stretch_bytes +
                            random() % (shape.stretch_bytes / 16) * 16;
            const auto next = used.lower_bound(event.address);
            if (next != used.end() && next->first < end_of(event)) continue;
            if (next != used.begin() && std::prev(next)->second > event.address) continue;
            used[event.address] = end_of(event);
        }
        events.push_back(event);
    }
    return History(std::move(events));
}

class CoarseMapTest : public testing::TestWithParam<Shape> {
  protected:
    CoarseMapTest() {
        history_.write(folder_.file("trace"), trace::Stacks::all, {});
        const trace::Trace trace(folder_.file("trace"));
        document_ = analyse(trace);
        last_ = trace.last().units;
        while (touched(log_).size() > AddressGrid::kMostCells) ++log_;
        cells_ = touched(log_);
    }
    // All cells of that width that a block ever lay in.
    [[nodiscard]] std::set<std::uint64_t> touched(unsigned log) const {
        std::set<std::uint64_t> cells;
        for (const Moment &moment : history_.moments()) {
            if (!obtains(moment.event.op)) continue;
            const std::uint64_t last = (end_of(moment.event) - 1) >> log;
            for (std::uint64_t cell = moment.event.address >> log; cell <= last; ++cell) cells.insert(cell);
        }
        return cells;
    }
    [[nodiscard]] std::size_t cells_in(std::uint64_t begin, std::uint64_t end) const {
        return static_cast<std::size_t>(
            std::distance(cells_.lower_bound(begin >> log_), cells_.lower_bound(end >> log_)));
    }
    // Behind the last moment that belongs to each column.
    [[nodiscard]] std::vector<const LiveMap *> columns(bool by_time, std::uint32_t count) const {
        static const LiveMap kNothing;
        const std::vector<Moment> &moments = history_.moments();
        std::vector<const LiveMap *> columns;
        std::size_t next = 0;
        for (std::uint32_t column = 0; column < count; ++column) {
            const auto belongs_to_it = [&](std::size_t place) {
                if (by_time) return History::part_of(moments[place].event.time, count, last_) <= column;
                const std::uint64_t before = place == 0 ? 0 : moments[place - 1].births;
                return before * count < moments.back().births * (column + 1);
            };
            while (next < moments.size() && belongs_to_it(next)) ++next;
            columns.push_back(next == 0 ? &kNothing : &moments[next - 1].live);
        }
        return columns;
    }

    Folder folder_;
    History history_ = history_of(GetParam());
    Document document_;
    std::uint64_t last_ = 0;
    unsigned log_ = std::bit_width(History::kPage) - 1;
    std::set<std::uint64_t> cells_;
};

TEST_P(CoarseMapTest, RowsHoldEveryCellOnce) {
    EXPECT_EQ(log_ > std::bit_width(History::kPage) - 1, GetParam().is_coarse);
    const auto &chart = chart_of<HeatChart>(section_of(document_, "map"), "Memory over time");
    ASSERT_LE(chart.rows, MemoryMap::kMostRows);
    ASSERT_EQ(chart.y_edges.size(), chart.rows + 1U);
    std::size_t cells = 0;
    for (std::uint32_t row = 0; row < chart.rows; ++row) {
        const auto begin = static_cast<std::uint64_t>(chart.y_edges[row]);
        const auto end = static_cast<std::uint64_t>(chart.y_edges[row + 1]);
        EXPECT_LT(begin, end);
        EXPECT_EQ(begin & ((std::uint64_t{1} << log_) - 1), 0U) << "cells are as fine as they can be";
        const std::size_t here = cells_in(begin, end);
        cells += here;
        const bool is_gap = std::ranges::find(chart.y_gaps, row) != chart.y_gaps.end();
        EXPECT_EQ(here == 0, is_gap) << row;
    }
    EXPECT_EQ(cells, cells_.size());
}

TEST_P(CoarseMapTest, RowsAreAsFullAsAPlainCountSays) {
    for (const bool by_time : {true, false}) {
        const auto &chart = chart_of<HeatChart>(section_of(document_, "map"),
                                                by_time ? "Memory over time" : "Memory by blocks allocated");
        std::vector<double> shares(std::size_t{chart.rows} * chart.columns);
        const std::vector<const LiveMap *> columns = this->columns(by_time, chart.columns);
        for (std::uint32_t column = 0; column < chart.columns; ++column) {
            for (const auto &[address, alive] : *columns[column]) {
                const std::uint64_t block_end = address + alive.birth.size;
                auto row = static_cast<std::size_t>(
                    std::ranges::upper_bound(chart.y_edges, static_cast<double>(address)) - chart.y_edges.begin() - 1);
                for (; row < chart.rows && chart.y_edges[row] < static_cast<double>(block_end); ++row) {
                    const auto begin = static_cast<std::uint64_t>(chart.y_edges[row]);
                    const auto end = static_cast<std::uint64_t>(chart.y_edges[row + 1]);
                    const auto bytes = std::min(end, block_end) - std::max(begin, address);
                    shares[row * chart.columns + column] += static_cast<double>(bytes);
                }
            }
        }
        for (std::uint32_t row = 0; row < chart.rows; ++row) {
            const std::size_t cells = cells_in(static_cast<std::uint64_t>(chart.y_edges[row]),
                                               static_cast<std::uint64_t>(chart.y_edges[row + 1]));
            const double room = static_cast<double>(cells) * static_cast<double>(std::uint64_t{1} << log_);
            for (std::uint32_t column = 0; column < chart.columns; ++column) {
                double &share = shares[std::size_t{row} * chart.columns + column];
                share = cells == 0 ? 0 : std::min(1.0, share / room);
            }
        }
        EXPECT_EQ(chart.cells, shades_of(shares, 0, 1, Scale::linear)) << (by_time ? "by time" : "by births");
        EXPECT_TRUE(std::ranges::any_of(chart.cells, [](std::uint8_t cell) { return cell > 1; }));
    }
}

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = kKiB * 1024;

INSTANTIATE_TEST_SUITE_P(Shapes, CoarseMapTest,
                         testing::Values(Shape{1, 256 * kMiB, 2 * kMiB, true},        // one heap
                                         Shape{7, 200 * kMiB, 96 * kMiB, true},       // blocks of many cells each
                                         Shape{900, 64 * kKiB, 8 * kKiB, false},      // more stretches than rows
                                         Shape{1200, 512 * kKiB, 256 * kKiB, true}),  // both
                         [](const auto &test) { return "Of" + std::to_string(test.param.stretches) + "Stretches"; });

}  // namespace gr::tool::coarse_map_test
