// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: every section's numbers, over random traces, are those that a plain count finds.
// Invariant: a plain count looks at what is in use behind an event anew, each time.
// Must not know: how the analysis gathers.
#include <algorithm>
#include <numeric>
#include <set>

#include "analysis/history.hpp"
#include "reading/trace/chunk.hpp"
#include "reporting/charts/address_grid.hpp"
#include "reporting/charts/shades.hpp"
#include "reporting/document/buckets.hpp"
#include "reporting/sections/held_pages.hpp"
#include "reporting/steps/time_axis.hpp"

namespace gr::tool::oracle_test {

constexpr double kUnit = 1e-7;  // seconds

class OracleTest : public testing::TestWithParam<unsigned> {
  protected:
    OracleTest() {
        history_.write(folder_.file("trace"), trace::Stacks::all, samples());
        const trace::Trace trace(folder_.file("trace"));
        document_ = analyse(trace, by_address());
        last_ = trace.last().units;
    }
    [[nodiscard]] const std::vector<Moment> &moments() const { return history_.moments(); }
    [[nodiscard]] const Section &section(const std::string &id) const { return section_of(document_, id); }
    [[nodiscard]] std::vector<trace::Sample> samples() const {
        const Time middle = history_.moments()[history_.moments().size() / 2].event.time;
        trace::Sample low;
        low.resident_bytes = 100;
        trace::Sample high;
        high.time = middle;
        high.resident_bytes = 200;
        return {low, high};
    }
    static std::string name_of_thread(const Event &event) {
        return "thread " + std::to_string(trace::number_of(event.thread));
    }
    static double live_bytes(const Moment &moment) {
        double bytes = 0;
        for (const auto &[address, alive] : moment.live) bytes += static_cast<double>(alive.birth.size);
        return bytes;
    }
    // The units that blocks lie in, with the blocks in each.
    static std::map<std::uint64_t, std::vector<const Alive *>> units(const LiveMap &live, std::uint64_t width) {
        std::map<std::uint64_t, std::vector<const Alive *>> units;
        for (const auto &[address, alive] : live) {
            const std::uint64_t end = address + std::max<std::uint64_t>(alive.birth.size, 1);
            for (std::uint64_t unit = address / width; unit * width < end; ++unit) units[unit].push_back(&alive);
        }
        return units;
    }
    static std::uint64_t overlap(const Alive &alive, std::uint64_t begin, std::uint64_t end) {
        const std::uint64_t from = std::max(alive.birth.address, begin);
        const std::uint64_t to = std::min(alive.birth.address + alive.birth.size, end);
        return from < to ? to - from : 0;
    }
    // Behind the last event until that time.
    [[nodiscard]] LiveMap live_at(Time time) const {
        LiveMap live;
        for (const Moment &moment : moments()) {
            if (moment.event.time <= time) live = moment.live;
        }
        return live;
    }
    void expect_held(const std::string &id, const LiveMap &live) const;
    // Of moments that count, how many a second in each point.
    template <class Counts>
    void expect_rates(const SeriesChart &chart, std::size_t series, Counts counts) const {
        std::vector<double> expected(TimeAxis::kPoints);
        const double seconds = static_cast<double>(last_ + 1) * kUnit / TimeAxis::kPoints;
        for (const Moment &moment : moments()) {
            if (counts(moment)) expected[History::part_of(moment.event.time, TimeAxis::kPoints, last_)] += 1 / seconds;
        }
        for (std::uint32_t i = 0; i < TimeAxis::kPoints; ++i)
            EXPECT_NEAR(chart.series[series].values[i], expected[i], 1e-6 * expected[i]) << series << " " << i;
    }

    Folder folder_;
    History history_ = History::random(GetParam(), 1500);
    Document document_;
    std::uint64_t last_ = 0;
};

TEST_P(OracleTest, Footprint) {
    const auto blocks = [](const Moment &moment) { return static_cast<double>(moment.live.size()); };
    const auto &bytes_chart = chart_of<SeriesChart>(section("footprint"), "Bytes in use, and resident");
    const auto &blocks_chart = chart_of<SeriesChart>(section("footprint"), "Blocks in use");
    EXPECT_EQ(bytes_chart.series[0].values, history_.highest_by_point(TimeAxis::kPoints, last_, live_bytes));
    EXPECT_EQ(blocks_chart.series[0].values, history_.highest_by_point(TimeAxis::kPoints, last_, blocks));
    double most = 0;
    double sum = 0;
    const Moment *before = nullptr;
    Time first;
    Time last;
    for (const Moment &moment : moments()) {
        most = std::max(most, live_bytes(moment));
        const bool changes = moment.died || (obtains(moment.event.op) && moment.event.address != 0);
        if (!changes) continue;
        if (before == nullptr) first = moment.event.time;
        if (before != nullptr)
            sum += live_bytes(*before) * static_cast<double>(moment.event.time.units - before->event.time.units);
        before = &moment;
        last = moment.event.time;
    }
    const auto &table = chart_of<TableChart>(section("footprint"), "In use");
    EXPECT_EQ(number_in(table, "most", 1), most);
    EXPECT_EQ(number_in(table, "at the end", 1), live_bytes(moments().back()));
    EXPECT_EQ(number_in(table, "at the end", 2), blocks(moments().back()));
    EXPECT_DOUBLE_EQ(number_in(table, "mean over time", 1), sum / static_cast<double>(last.units - first.units));
}

TEST_P(OracleTest, Sizes) {
    const auto &chart = chart_of<BarsChart>(section("sizes"), "Blocks by size");
    std::vector<std::map<double, double>> expected(TimeAxis::kSlices);  // by the bucket's end
    double bytes = 0;
    for (const Moment &moment : moments()) {
        if (!obtains(moment.event.op) || moment.event.address == 0) continue;
        const auto slice = History::part_of(moment.event.time, TimeAxis::kSlices, last_);
        expected[slice][static_cast<double>(trace::bucket_end(trace::size_bucket(moment.event.size)))] += 1;
        bytes += static_cast<double>(moment.event.size);
    }
    for (std::uint32_t slice = 0; slice < TimeAxis::kSlices; ++slice) {
        for (std::size_t i = 0; i + 1 < chart.edges.size(); ++i)
            EXPECT_EQ(chart.series[0].slices[slice][i], expected[slice][chart.edges[i + 1]]) << slice << " " << i;
        EXPECT_LE(expected[slice].size(), chart.edges.size() - 1);
    }
    double in_table = 0;
    for (const auto &row :
         chart_of<TableChart>(section("sizes"), "Requested sizes, and the bytes after rounding to size classes").rows)
        in_table += std::get<double>(row[4]);
    EXPECT_EQ(in_table, bytes);
}

TEST_P(OracleTest, Lifetimes) {
    const auto &chart = chart_of<BarsChart>(section("lifetimes"), "Blocks by lifetime");
    const auto &by_bytes =
        chart_of<BarsChart>(section("lifetimes"), "Blocks by the bytes that were allocated while they lived");
    const auto &by_blocks =
        chart_of<BarsChart>(section("lifetimes"), "Blocks by the blocks that were allocated while they lived");
    std::vector<std::vector<double>> expected(TimeAxis::kSlices, std::vector<double>(chart.edges.size() - 1));
    std::vector<double> bytes(by_bytes.edges.size() - 1);
    std::vector<double> blocks(by_blocks.edges.size() - 1);
    const auto count = [](const std::vector<double> &edges, std::vector<double> &counts, double number) {
        for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
            if (edges[i] * 0.999999 <= number && number < edges[i + 1] * 0.999999) counts[i] += 1;
        }
    };
    double sum = 0;
    double freed = 0;
    for (const Moment &moment : moments()) {
        if (!moment.died) continue;
        const auto age = static_cast<double>(moment.event.time.units - moment.dead.birth.time.units);
        count(chart.edges, expected[History::part_of(moment.event.time, TimeAxis::kSlices, last_)], age * kUnit);
        count(by_bytes.edges, bytes,
              static_cast<double>(moment.bytes_born - moment.dead.bytes_before - moment.dead.birth.size));
        count(by_blocks.edges, blocks, static_cast<double>(moment.births - moment.dead.number - 1));
        sum += age;
        freed += 1;
    }
    EXPECT_EQ(chart.series[0].slices, expected);
    EXPECT_EQ(by_bytes.series[0].values, bytes);
    EXPECT_EQ(by_blocks.series[0].values, blocks);
    double all = sum;
    for (const auto &[address, alive] : history_.end()) {
        Time last;
        for (const Moment &moment : moments()) {
            if (moment.died || (obtains(moment.event.op) && moment.event.address != 0)) last = moment.event.time;
        }
        all += static_cast<double>(last.units - alive.birth.time.units);
    }
    const auto &table = chart_of<TableChart>(section("lifetimes"), "Lifetimes");
    EXPECT_NEAR(number_in(table, "mean, of blocks that were freed", 1), sum / freed * kUnit, 1e-12);
    EXPECT_NEAR(number_in(table, "mean, of all", 1), all / (freed + static_cast<double>(history_.end().size())) * kUnit,
                1e-12);
}

TEST_P(OracleTest, Intervals) {
    std::vector<std::uint64_t> all;
    std::vector<std::uint64_t> frees_only;
    for (const Moment &moment : moments()) {
        all.push_back(moment.event.time.units);
        if (frees(moment.event.op)) frees_only.push_back(moment.event.time.units);
    }
    const auto &table = chart_of<TableChart>(section("intervals"), "Times between requests");
    const auto expect = [&](const char *row, const std::vector<std::uint64_t> &times) {
        std::uint64_t longest = 0;
        for (std::size_t i = 1; i < times.size(); ++i) longest = std::max(longest, times[i] - times[i - 1]);
        EXPECT_EQ(number_in(table, row, 1), static_cast<double>(times.size() - 1));
        EXPECT_NEAR(number_in(table, row, 2),
                    static_cast<double>(times.back() - times.front()) * kUnit / static_cast<double>(times.size() - 1),
                    1e-12);
        EXPECT_NEAR(number_in(table, row, 4), static_cast<double>(longest) * kUnit, 1e-12);
    };
    expect("all requests", all);
    expect("frees", frees_only);
}

TEST_P(OracleTest, Statistics) {
    std::map<Op, std::pair<double, double>> calls;  // how many, timed
    double nanoseconds = 0;
    for (const Moment &moment : moments()) {
        auto &[count, timed] = calls[moment.event.op];
        count += 1;
        if (moment.event.nanoseconds == 0) continue;
        timed += 1;
        if (moment.event.op == Op::free) nanoseconds += moment.event.nanoseconds;
    }
    const auto &table = chart_of<TableChart>(section("statistics"), "Calls");
    EXPECT_EQ(table.rows.size(), calls.size());
    EXPECT_EQ(number_in(table, "malloc", 1), calls[Op::malloc].first);
    EXPECT_EQ(number_in(table, "new", 2), calls[Op::operator_new].second);
    EXPECT_NEAR(number_in(table, "free", 3), nanoseconds / calls[Op::free].second * 1e-9, 1e-15);
    const auto &rates = chart_of<SeriesChart>(section("statistics"), "Calls per second");
    expect_rates(rates, 0, [](const Moment &moment) { return obtains(moment.event.op); });  // those that got none, too
    expect_rates(rates, 1, [](const Moment &moment) { return frees(moment.event.op); });
}

TEST_P(OracleTest, Threads) {
    const auto &matrix = chart_of<MatrixChart>(section("threads"), "Who frees whose blocks");
    std::vector<std::vector<double>> expected(History::kThreads, std::vector<double>(History::kThreads));
    for (const Moment &moment : moments()) {
        if (moment.died)
            expected[trace::number_of(moment.dead.birth.thread)][trace::number_of(moment.event.thread)] += 1;
    }
    EXPECT_EQ(matrix.values, expected);
    const auto &rates =
        chart_of<SeriesChart>(section("threads"), "Frees per second, of own blocks and of other threads' blocks");
    const auto is_own = [](const Moment &moment) { return moment.dead.birth.thread == moment.event.thread; };
    expect_rates(rates, 0, [&](const Moment &moment) { return moment.died && is_own(moment); });
    expect_rates(rates, 1, [&](const Moment &moment) { return moment.died && !is_own(moment); });
}

TEST_P(OracleTest, CacheLines) {
    using Lines = std::map<std::uint64_t, std::set<std::uint32_t>>;
    const auto lines_of = [](const Moment &moment) {
        Lines lines;
        for (const auto &[line, blocks] : units(moment.live, 64)) {
            for (const Alive *block : blocks) lines[line].insert(trace::number_of(block->birth.thread));
        }
        return lines;
    };
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<double, double>> pairs;  // times, most
    Lines before;
    for (const Moment &moment : moments()) {
        const Lines lines = lines_of(moment);
        for (std::uint32_t one = 0; one < History::kThreads; ++one) {
            for (std::uint32_t other = one + 1; other < History::kThreads; ++other) {
                double now = 0;
                for (const auto &[line, threads] : lines) {
                    if (!threads.contains(one) || !threads.contains(other)) continue;
                    now += 1;
                    const auto old = before.find(line);
                    const bool was = old != before.end() && old->second.contains(one) && old->second.contains(other);
                    if (!was) pairs[{one, other}].first += 1;
                }
                auto &most = pairs[{one, other}].second;
                most = std::max(most, now);
            }
        }
        before = lines;
    }
    const auto &chart = chart_of<SeriesChart>(section("lines"), "Lines with blocks of more than one thread");
    EXPECT_EQ(chart.series[0].values, history_.highest_by_point(TimeAxis::kPoints, last_, [&](const Moment &moment) {
        double shared = 0;
        for (const auto &[line, threads] : lines_of(moment)) shared += threads.size() > 1 ? 1 : 0;
        return shared;
    }));
    const auto &table = chart_of<TableChart>(section("lines"), "Threads whose blocks share lines");
    for (const auto &row : table.rows) {
        const auto number = [](const Value &name) {
            return static_cast<std::uint32_t>(std::stoul(std::get<std::string>(name).substr(7)));
        };
        const auto &[times, most] = pairs[{number(row[0]), number(row[1])}];
        EXPECT_EQ(std::get<double>(row[2]), times);
        EXPECT_EQ(std::get<double>(row[3]), most);
    }
    EXPECT_EQ(table.rows.size(), 3U);
}

TEST_P(OracleTest, Fragmentation) {
    const auto &chart =
        chart_of<SeriesChart>(section("fragmentation"), "Bytes in use, the pages that hold them, and what is resident");
    EXPECT_EQ(chart.series[1].values, history_.highest_by_point(TimeAxis::kPoints, last_, [](const Moment &moment) {
        return static_cast<double>(units(moment.live, History::kPage).size() * History::kPage);
    }));
}

TEST_P(OracleTest, MemoryMap) {
    for (const bool by_time : {true, false}) {
        const auto &chart =
            chart_of<HeatChart>(section("map"), by_time ? "Memory over time" : "Memory by blocks allocated");
        std::vector<double> shares;
        for (std::uint32_t row = 0; row < chart.rows; ++row) {
            const auto begin = static_cast<std::uint64_t>(chart.y_edges[row]);
            const auto end = static_cast<std::uint64_t>(chart.y_edges[row + 1]);
            const bool is_gap = std::ranges::find(chart.y_gaps, row) != chart.y_gaps.end();
            std::size_t next = 0;
            for (std::uint32_t column = 0; column < chart.columns; ++column) {
                const auto belongs_to_it = [&](std::size_t place) {
                    if (by_time) return History::part_of(moments()[place].event.time, chart.columns, last_) <= column;
                    const std::uint64_t before = place == 0 ? 0 : moments()[place - 1].births;
                    return before * chart.columns < moments().back().births * (column + 1);
                };
                while (next < moments().size() && belongs_to_it(next)) ++next;
                double bytes = 0;
                if (next != 0) {
                    for (const auto &[address, alive] : moments()[next - 1].live)
                        bytes += static_cast<double>(overlap(alive, begin, end));
                }
                shares.push_back(is_gap ? 0 : bytes / static_cast<double>(end - begin));
            }
        }
        EXPECT_EQ(chart.cells, shades_of(shares, 0, 1, Scale::linear));
        EXPECT_EQ(chart.columns, AddressGrid::kColumns);
        EXPECT_GE(chart.y_gaps.size(), 1U);  // between the heap and what is mapped
    }
}

TEST_P(OracleTest, Origins) {
    const auto &chart = chart_of<FlameChart>(section("origins"), "Call stacks");
    const Moment *peak = nullptr;
    for (const Moment &moment : moments()) {
        if (peak == nullptr || live_bytes(moment) > live_bytes(*peak)) peak = &moment;
    }
    std::map<std::string, double> at_peak;  // by address
    std::map<std::string, double> allocated;
    const auto name_of = [](StackNumber stack) {
        const std::uint32_t number = trace::number_of(stack);
        return number == 0 ? std::string() : "0x" + std::string("4000") + "0123456789abcdef"[number] + "0";
    };
    for (const auto &[address, alive] : peak->live)
        at_peak[name_of(alive.birth.stack)] += static_cast<double>(alive.birth.size);
    for (const Moment &moment : moments()) {
        if (obtains(moment.event.op) && moment.event.address != 0) allocated[name_of(moment.event.stack)] += 1;
    }
    for (std::size_t node = 0; node < chart.parents.size(); ++node) {
        const std::string name =
            chart.frames[node] < 0 ? "" : document_.frames[static_cast<std::size_t>(chart.frames[node])].name;
        EXPECT_EQ(chart.measures[0].values[node], at_peak[name]) << name;
        double blocks = 0;
        for (const FlameChart::Slice &slice : chart.measures[4].slices) {
            for (std::size_t i = 0; i < slice.nodes.size(); ++i) blocks += slice.nodes[i] == node ? slice.values[i] : 0;
        }
        EXPECT_EQ(blocks, allocated[name]) << name;
    }
    EXPECT_EQ(chart.parents.size(), History::kStacks + 1);
}

// Of one thread alone: by stack at the peak and in all, by function, and the most that it ever had in use.
TEST_P(OracleTest, ByThread) {
    const Section &origins = section("origins");
    const auto &chart = chart_of<FlameChart>(origins, "Call stacks");
    const auto &functions = chart_of<TableChart>(origins, "Memory by function");
    const auto &leaks = chart_of<TableChart>(section("leaks"), "In use at the end, by function");
    ASSERT_EQ(document_.threads.size(), History::kThreads);
    ASSERT_EQ(functions.threads.size(), History::kThreads);
    ASSERT_EQ(leaks.threads.size(), History::kThreads);
    const Moment &peak =
        *std::ranges::max_element(moments(), {}, [](const Moment &moment) { return live_bytes(moment); });
    const auto bytes_of = [](const Moment &moment, const std::string &thread) {
        double bytes = 0;
        for (const auto &[address, alive] : moment.live)
            bytes += name_of_thread(alive.birth) == thread ? static_cast<double>(alive.birth.size) : 0;
        return bytes;
    };
    const auto sum_of_column = [](const TableChart &table, std::size_t column) {
        double sum = 0;
        for (const TableChart::Row &row : table.rows) sum += std::get<double>(row[column]);
        return sum;
    };
    for (std::uint32_t number = 0; number < History::kThreads; ++number) {
        const std::string &thread = document_.threads[number];
        const auto sum_of_part = [&](const FlameChart::Slice &part) {
            double sum = 0;
            for (std::size_t i = 0; i < part.nodes.size(); ++i) sum += part.threads[i] == number ? part.values[i] : 0;
            return sum;
        };
        double blocks = 0;
        double most = 0;
        for (const Moment &moment : moments()) {
            if (obtains(moment.event.op) && moment.event.address != 0) blocks += name_of_thread(moment.event) == thread;
            most = std::max(most, bytes_of(moment, thread));
        }
        EXPECT_EQ(sum_of_part(chart.measures[0].by_thread), bytes_of(peak, thread)) << thread;
        EXPECT_EQ(sum_of_column(functions.threads[number], 1), bytes_of(peak, thread)) << thread;
        EXPECT_EQ(sum_of_column(functions.threads[number], 4), blocks) << thread;
        EXPECT_EQ(sum_of_column(leaks.threads[number], 1), bytes_of(moments().back(), thread)) << thread;
        double allocated = 0;
        for (const FlameChart::Slice &slice : chart.measures[4].slices) allocated += sum_of_part(slice);
        EXPECT_EQ(allocated, blocks) << thread;
        for (const TableChart::Row &row : chart_of<TableChart>(section("threads"), "Threads").rows) {
            if (std::get<std::string>(row[0]) != thread) continue;
            EXPECT_EQ(std::get<double>(row[3]), most) << thread;
        }
    }
    // What threads are told apart by is a part of the whole, node by node.
    for (std::size_t node = 0; node < chart.parents.size(); ++node) {
        const FlameChart::Slice &part = chart.measures[0].by_thread;
        double sum = 0;
        for (std::size_t i = 0; i < part.nodes.size(); ++i) sum += part.nodes[i] == node ? part.values[i] : 0;
        EXPECT_EQ(sum, chart.measures[0].values[node]);
    }
}

TEST_P(OracleTest, Temporaries) {
    double expected = 0;
    for (std::size_t i = 0; i < moments().size(); ++i) {
        const Moment &moment = moments()[i];
        if (!moment.died || moment.event.op == Op::realloc_free) continue;
        std::size_t before = i;
        while (before > 0 && moments()[--before].event.thread != moment.event.thread) continue;
        const Event &last = moments()[before].event;
        if (before != i && obtains(last.op) && last.address == moment.event.address &&
            last.thread == moment.event.thread)
            expected += 1;
    }
    double found = 0;
    for (const double value : chart_of<BarsChart>(section("temporaries"), "Temporary blocks by size").series[0].values)
        found += value;
    EXPECT_EQ(found, expected);
    EXPECT_GT(found, 0);
}

TEST_P(OracleTest, Leaks) {
    double blocks = 0;
    double bytes = 0;
    for (const auto &row : chart_of<TableChart>(section("leaks"), "In use at the end, by function").rows) {
        bytes += std::get<double>(row[1]);
        blocks += std::get<double>(row[2]);
    }
    EXPECT_EQ(blocks, static_cast<double>(history_.end().size()));
    EXPECT_EQ(bytes, live_bytes(moments().back()));
}

// What a row or an area tells is the sum of its parts: of stacks, and of the changes in each slice.
TEST_P(OracleTest, MemoryByFunction) {
    const Section &origins = section("origins");
    const auto &table = chart_of<TableChart>(origins, "Memory by function");
    ASSERT_EQ(table.parts.size(), table.rows.size());
    ASSERT_EQ(table.frames.size(), table.rows.size());
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        for (std::size_t column = 1; column < table.columns.size(); ++column) {
            double sum = 0;
            for (const TableChart::Row &part : table.parts[row]) sum += std::get<double>(part[column]);
            EXPECT_NEAR(sum, std::get<double>(table.rows[row][column]), 1e-3);
        }
    }
    double at_end = 0;
    for (const auto &series : chart_of<SeriesChart>(origins, "Bytes in use over time, by function").series)
        at_end += series.values.back();
    EXPECT_NEAR(at_end, live_bytes(moments().back()), 1e-3);
    for (const FlameChart::Measure &measure : chart_of<FlameChart>(origins, "Call stacks").measures) {
        if (!measure.is_running) continue;
        double sum = 0;
        for (const FlameChart::Slice &slice : measure.slices)
            sum = std::accumulate(slice.values.begin(), slice.values.end(), sum);
        EXPECT_NEAR(sum, live_bytes(moments().back()), 1e-3);
    }
}

void OracleTest::expect_held(const std::string &id, const LiveMap &live) const {
    std::vector<double> tenths(HeldPages::kTenths);
    double held = 0;
    for (const auto &[page, blocks] : units(live, History::kPage)) {
        std::uint64_t bytes = 0;
        for (const Alive *block : blocks) bytes += overlap(*block, page * History::kPage, (page + 1) * History::kPage);
        tenths[std::min<std::size_t>(bytes * HeldPages::kTenths / History::kPage, HeldPages::kTenths - 1)] += 1;
        if (bytes * 4 < History::kPage) held += static_cast<double>(History::kPage - bytes);
    }
    EXPECT_EQ(chart_of<BarsChart>(section(id), "Pages by how much of them is in use").series[0].values, tenths);
    for (const char *title : {"Blocks that hold sparse pages, by size", "Blocks that hold sparse pages, by function"}) {
        const std::size_t column = title == std::string("Blocks that hold sparse pages, by size") ? 2 : 1;
        double sum = 0;
        for (const auto &row : chart_of<TableChart>(section(id), title).rows) sum += std::get<double>(row[column]);
        EXPECT_NEAR(sum, held, 1e-3) << title;
    }
}

TEST_P(OracleTest, HeldPages) {
    expect_held("held-end", history_.end());
    expect_held("held-peak", live_at(samples()[1].time));
}

INSTANTIATE_TEST_SUITE_P(Random, OracleTest, testing::Values(1, 2, 3));

}  // namespace gr::tool::oracle_test
