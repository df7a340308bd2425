// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the document of a window of time: its numbers are those that a plain count of the window finds, whatever the analysis
//    passed over to come there.
// Invariant: a plain count looks at what is in use behind an event anew, each time.
// Must not know: how the analysis gathers.
#include <algorithm>
#include <numeric>
#include <set>
#include <thread>

#include "analysis/history.hpp"
#include "reading/trace/chunk.hpp"
#include "reporting/analysis/first_picture.hpp"
#include "reporting/document/document_json.hpp"
#include "reporting/sections/single_events.hpp"
#include "reporting/steps/positions.hpp"
#include "reporting/steps/time_axis.hpp"

namespace gr::tool::window_test {

constexpr double kUnit = 1e-7;  // seconds
constexpr std::size_t kEventsABlock = 40;

double live_bytes(const LiveMap &live) {
    double bytes = 0;
    for (const auto &[address, alive] : live) bytes += static_cast<double>(alive.birth.size);
    return bytes;
}

bool got_memory(const Event &event) { return obtains(event.op) && event.address != 0; }

// Which part of the history the window is, in thousandths of its events.
struct Part {
    unsigned seed;
    std::size_t from;
    std::size_t to;
};

class WindowTest : public testing::TestWithParam<Part> {
  protected:
    WindowTest() {
        history_.write(folder_.file("trace"), trace::Stacks::all, samples(), kEventsABlock);
        const std::vector<Moment> &all = history_.moments();
        const std::size_t first = all.size() * GetParam().from / 1000;
        const std::size_t last = std::min(all.size() * GetParam().to / 1000, all.size() - 1);
        window_ = {all[first].event.time, all[last].event.time};
        for (std::size_t i = first; i <= last; ++i) moments_.push_back(all[i]);
        if (first != 0) before_ = all[first - 1].live;
        const trace::Trace trace(folder_.file("trace"));
        Course course;
        document_ = Analyst(trace, by_address()).window(window_, course);
    }
    [[nodiscard]] std::vector<trace::Sample> samples() const {
        std::vector<trace::Sample> samples;
        for (std::size_t i = 0; i < history_.moments().size(); i += 100) {
            trace::Sample &sample = samples.emplace_back();
            sample.time = history_.moments()[i].event.time;
            sample.resident_bytes = 1'000'000 + i * 7919 % 1000;
            sample.user_microseconds = i;
        }
        return samples;
    }
    [[nodiscard]] const Section &section(const std::string &id) const { return section_of(document_, id); }
    [[nodiscard]] std::uint64_t part_of(Time time, std::uint32_t parts) const {
        return (time.units - window_.first.units) * parts / (window_.last.units - window_.first.units + 1);
    }
    template <class Number>
    [[nodiscard]] std::vector<double> highest_by_point(Number number) const {
        std::vector<double> values(TimeAxis::kPoints);
        double now = number(before_);
        std::size_t next = 0;
        for (std::uint32_t point = 0; point < TimeAxis::kPoints; ++point) {
            values[point] = now;
            for (; next < moments_.size() && part_of(moments_[next].event.time, TimeAxis::kPoints) == point; ++next) {
                now = number(moments_[next].live);
                values[point] = std::max(values[point], now);
            }
        }
        return values;
    }
    [[nodiscard]] std::vector<LiveMap> all_lives() const {
        std::vector<LiveMap> lives{before_};
        for (const Moment &moment : moments_) lives.push_back(moment.live);
        return lives;
    }

    Folder folder_;
    History history_ = History::random(GetParam().seed, 1500);
    Window window_;
    std::vector<Moment> moments_;  // in the window
    LiveMap before_;               // behind the last event before it
    Document document_;
};

TEST_P(WindowTest, SaysWhatItIs) {
    ASSERT_TRUE(document_.window);
    EXPECT_NEAR(document_.window->first, static_cast<double>(window_.first.units) * kUnit, 1e-12);
    EXPECT_NEAR(document_.window->second, static_cast<double>(window_.last.units + 1) * kUnit, 1e-12);
    EXPECT_EQ(document_.slices.front(), document_.window->first);
    EXPECT_EQ(document_.slices.back(), document_.window->second);
    EXPECT_EQ(document_.notes.size(), 1U);
}

TEST_P(WindowTest, Footprint) {
    const auto blocks = [](const LiveMap &live) { return static_cast<double>(live.size()); };
    const auto &bytes_chart = chart_of<SeriesChart>(section("footprint"), "Bytes in use, and resident");
    const auto &blocks_chart = chart_of<SeriesChart>(section("footprint"), "Blocks in use");
    EXPECT_EQ(bytes_chart.series[0].values, highest_by_point(live_bytes));
    EXPECT_EQ(blocks_chart.series[0].values, highest_by_point(blocks));
    const auto &change =
        chart_of<SeriesChart>(section("footprint"), "Change of the bytes in use since the start of this time");
    EXPECT_EQ(change.series[0].values,
              highest_by_point([&](const LiveMap &live) { return live_bytes(live) - live_bytes(before_); }));
    double most = 0;
    for (const LiveMap &live : all_lives()) most = std::max(most, live_bytes(live));
    double sum = 0;
    LiveMap now = before_;
    std::uint64_t time = window_.first.units;
    for (const Moment &moment : moments_) {
        sum += live_bytes(now) * static_cast<double>(moment.event.time.units - time);
        time = moment.event.time.units;
        now = moment.live;
    }
    const auto &table = chart_of<TableChart>(section("footprint"), "In use");
    EXPECT_EQ(number_in(table, "most", 1), most);
    EXPECT_EQ(number_in(table, "at the end", 1), live_bytes(moments_.back().live));
    EXPECT_EQ(number_in(table, "at the end", 2), blocks(moments_.back().live));
    const double length = static_cast<double>(window_.last.units - window_.first.units);
    EXPECT_NEAR(number_in(table, "mean over time", 1), length == 0 ? live_bytes(now) : sum / length, 1e-6 * most);
}

TEST_P(WindowTest, Resident) {
    const trace::Sample *before = nullptr;
    std::vector<double> expected(TimeAxis::kPoints, -1);
    const std::vector<trace::Sample> samples = this->samples();
    const trace::Sample *highest = nullptr;
    for (const trace::Sample &sample : samples) {
        if (sample.time <= window_.first) before = &sample;
        const bool is_in = window_.first <= sample.time && sample.time <= window_.last;
        if (is_in && (highest == nullptr || sample.resident_bytes > highest->resident_bytes)) highest = &sample;
    }
    ASSERT_NE(before, nullptr);
    double now = static_cast<double>(before->resident_bytes);
    for (std::uint32_t point = 0; point < TimeAxis::kPoints; ++point) {
        for (const trace::Sample &sample : samples) {
            if (window_.first < sample.time && sample.time <= window_.last &&
                part_of(sample.time, TimeAxis::kPoints) == point)
                now = static_cast<double>(sample.resident_bytes);
        }
        expected[point] = now;
    }
    const auto &chart = chart_of<SeriesChart>(section("footprint"), "Bytes in use, and resident");
    EXPECT_EQ(chart.series[1].values, expected);
    const auto has = [&](const std::string &id) {
        return std::ranges::any_of(document_.sections, [&](const Section &one) { return one.id == id; });
    };
    EXPECT_EQ(has("held-peak"), highest != nullptr);
}

TEST_P(WindowTest, Sizes) {
    std::vector<std::map<double, double>> expected(TimeAxis::kSlices);  // by the bucket's end
    double blocks = 0;
    for (const Moment &moment : moments_) {
        if (!got_memory(moment.event)) continue;
        const auto end = static_cast<double>(trace::bucket_end(trace::size_bucket(moment.event.size)));
        expected[part_of(moment.event.time, TimeAxis::kSlices)][end] += 1;
        blocks += 1;
    }
    if (blocks == 0) {
        EXPECT_EQ(section("sizes").answer, "No allocation succeeded.");
        return;
    }
    const auto &chart = chart_of<BarsChart>(section("sizes"), "Blocks by size");
    for (std::uint32_t slice = 0; slice < TimeAxis::kSlices; ++slice) {
        for (std::size_t i = 0; i + 1 < chart.edges.size(); ++i)
            EXPECT_EQ(chart.series[0].slices[slice][i], expected[slice][chart.edges[i + 1]]) << slice << " " << i;
    }
}

TEST_P(WindowTest, LifetimesAndThreads) {
    double freed = 0;
    double sum = 0;
    std::vector<double> by_slice(TimeAxis::kSlices);
    std::vector<std::vector<double>> matrix(History::kThreads, std::vector<double>(History::kThreads));
    for (const Moment &moment : moments_) {
        if (!moment.died) continue;
        freed += 1;
        sum += static_cast<double>(moment.event.time.units - moment.dead.birth.time.units) * kUnit;
        by_slice[part_of(moment.event.time, TimeAxis::kSlices)] += 1;
        matrix[trace::number_of(moment.dead.birth.thread)][trace::number_of(moment.event.thread)] += 1;
    }
    EXPECT_EQ(chart_of<MatrixChart>(section("threads"), "Who frees whose blocks").values, matrix);
    if (freed == 0) return;
    const auto &chart = chart_of<BarsChart>(section("lifetimes"), "Blocks by lifetime");
    std::vector<double> found;
    for (const std::vector<double> &slice : chart.series[0].slices)
        found.push_back(std::accumulate(slice.begin(), slice.end(), 0.0));
    EXPECT_EQ(found, by_slice);
    const auto &table = chart_of<TableChart>(section("lifetimes"), "Lifetimes");
    EXPECT_NEAR(number_in(table, "mean, of blocks that were freed", 1), sum / freed, 1e-12);
}

TEST_P(WindowTest, StatisticsAndIntervals) {
    std::map<Op, double> calls;
    for (const Moment &moment : moments_) calls[moment.event.op] += 1;
    const auto &table = chart_of<TableChart>(section("statistics"), "Calls");
    EXPECT_EQ(table.rows.size(), calls.size());
    for (const auto &[op, name] : {std::pair{Op::malloc, "malloc"}, {Op::free, "free"}}) {
        if (!calls.contains(op)) continue;
        EXPECT_EQ(number_in(table, name, 1), calls[op]) << name;
    }
    if (moments_.size() < 2) return;
    const auto &times = chart_of<TableChart>(section("intervals"), "Times between requests");
    EXPECT_EQ(number_in(times, "all requests", 1), static_cast<double>(moments_.size() - 1));
    // Between samples CPU time grows evenly.
    const auto &whole = chart_of<TableChart>(section("statistics"), "Totals");
    const std::vector<trace::Sample> samples = this->samples();
    const auto used = [&](double time) {
        for (std::size_t i = 1; i < samples.size(); ++i) {
            const auto from = static_cast<double>(samples[i - 1].time.units);
            const auto to = static_cast<double>(samples[i].time.units);
            if (from <= time && time < to)
                return static_cast<double>(samples[i - 1].user_microseconds) + (time - from) / (to - from) * 100;
        }
        return static_cast<double>(samples.back().user_microseconds);
    };
    const double expected =
        (used(static_cast<double>(window_.last.units + 1)) - used(static_cast<double>(window_.first.units))) * 1e-6;
    for (const auto &row : whole.rows) {
        if (std::get<std::string>(row[0]) != "CPU time" || expected <= 0) continue;
        EXPECT_NEAR(std::get<double>(row[2]), expected, 1e-9);
    }
}

TEST_P(WindowTest, FragmentationAndLines) {
    const auto units = [](const LiveMap &live, std::uint64_t width) {
        std::map<std::uint64_t, std::set<std::uint32_t>> found;  // the threads whose blocks lie there
        for (const auto &[address, alive] : live) {
            const std::uint64_t end = address + std::max<std::uint64_t>(alive.birth.size, 1);
            for (std::uint64_t unit = address / width; unit * width < end; ++unit)
                found[unit].insert(trace::number_of(alive.birth.thread));
        }
        return found;
    };
    const auto pages = [&](const LiveMap &live) {
        return static_cast<double>(units(live, History::kPage).size() * History::kPage);
    };
    const auto &chart =
        chart_of<SeriesChart>(section("fragmentation"), "Bytes in use, the pages that hold them, and what is resident");
    EXPECT_EQ(chart.series[1].values, highest_by_point(pages));
    double most = 0;
    for (const LiveMap &live : all_lives()) most = std::max(most, pages(live));
    EXPECT_EQ(number_in(chart_of<TableChart>(section("fragmentation"), "Pages"), "most pages with a block", 4), most);
    const auto shared = [&](const LiveMap &live) {
        double lines = 0;
        for (const auto &[line, threads] : units(live, 64)) lines += threads.size() > 1 ? 1 : 0;
        return lines;
    };
    const std::vector<double> expected = highest_by_point(shared);
    if (std::ranges::all_of(expected, [](double lines) { return lines == 0; })) return;
    const auto &lines = chart_of<SeriesChart>(section("lines"), "Lines with blocks of more than one thread");
    EXPECT_EQ(lines.series[0].values, expected);
}

TEST_P(WindowTest, OriginsAndLeaks) {
    double at_end = 0;
    double blocks = 0;
    for (const auto &row : chart_of<TableChart>(section("leaks"), "In use at the end, by function").rows) {
        at_end += std::get<double>(row[1]);
        blocks += std::get<double>(row[2]);
    }
    EXPECT_EQ(at_end, live_bytes(moments_.back().live));
    EXPECT_EQ(blocks, static_cast<double>(moments_.back().live.size()));
    double most = 0;
    for (const LiveMap &live : all_lives()) most = std::max(most, live_bytes(live));
    double allocated = 0;
    for (const Moment &moment : moments_) allocated += got_memory(moment.event) ? 1 : 0;
    if (allocated == 0) return;
    const auto &chart = chart_of<FlameChart>(section("origins"), "Call stacks");
    EXPECT_EQ(std::accumulate(chart.measures[0].values.begin(), chart.measures[0].values.end(), 0.0), most);
    double found = 0;
    for (const FlameChart::Slice &slice : chart.measures[4].slices)
        found += std::accumulate(slice.values.begin(), slice.values.end(), 0.0);
    EXPECT_EQ(found, allocated);
}

TEST_P(WindowTest, MemoryMap) {
    for (const bool by_time : {true, false}) {
        const auto &chart =
            chart_of<HeatChart>(section("map"), by_time ? "Memory over time" : "Memory by blocks allocated");
        // What is in use at the end lies in the last column, and nothing else.
        for (std::uint32_t row = 0; row < chart.rows; ++row) {
            double bytes = 0;
            for (const auto &[address, alive] : moments_.back().live) {
                const double from = std::max(static_cast<double>(address), chart.y_edges[row]);
                const double to = std::min(static_cast<double>(address + alive.birth.size), chart.y_edges[row + 1]);
                bytes += std::max(0.0, to - from);
            }
            const auto cell = chart.cells[std::size_t{row} * chart.columns + chart.columns - 1];
            EXPECT_EQ(cell != 0, bytes > 0) << by_time << " " << row;
        }
        double births = 0;
        for (const Moment &moment : moments_) births += got_memory(moment.event) ? 1 : 0;
        if (by_time) continue;
        EXPECT_EQ(chart.x_edges.back(), births);
    }
}

TEST_P(WindowTest, SingleEvents) {
    const Section &events = section("events");
    if (moments_.size() > SingleEvents::kMost) {
        EXPECT_TRUE(events.charts.empty());
        EXPECT_NE(events.answer.find("select a shorter time"), std::string::npos);
        return;
    }
    const auto &table = chart_of<TableChart>(events, "Events");
    ASSERT_EQ(table.rows.size(), moments_.size());
    for (std::size_t i = 0; i < moments_.size(); ++i) {
        const Event &event = moments_[i].event;
        const std::vector<Value> &row = table.rows[i];
        EXPECT_DOUBLE_EQ(std::get<double>(row[0]), static_cast<double>(event.time.units) * kUnit);
        EXPECT_EQ(std::get<std::string>(row[1]), "thread " + std::to_string(trace::number_of(event.thread)));
        EXPECT_EQ(std::get<double>(row[3]), static_cast<double>(event.address));
        const bool is_free = frees(event.op);
        EXPECT_EQ(std::get<double>(row[4]), static_cast<double>(is_free ? moments_[i].dead.birth.size : event.size));
        if (is_free) {
            EXPECT_NEAR(std::get<double>(row[5]),
                        static_cast<double>(event.time.units - moments_[i].dead.birth.time.units) * kUnit, 1e-12);
        }
        const StackNumber stack = is_free ? moments_[i].dead.birth.stack : event.stack;
        EXPECT_EQ(std::get<std::string>(row[7]).empty(), stack == StackNumber::none || event.address == 0);
    }
}

// What was passed over, by what the whole left behind, changes nothing.
TEST_P(WindowTest, FromAPosition) {
    const trace::Trace trace(folder_.file("trace"));
    EXPECT_GT(Positions::moments(trace).size(), 10U);
    Analyst analyst(trace, by_address());
    Course course;
    const std::string whole = to_json(analyst.whole(course));
    EXPECT_EQ(course.done(), 1);
    EXPECT_EQ(whole, to_json(analyse(trace, by_address())));
    Course second;
    EXPECT_EQ(to_json(analyst.window(window_, second)), to_json(document_));
    EXPECT_GT(second.done(), 0);
    // And closer, from where that one began.
    const Window inner{moments_[moments_.size() / 3].event.time, moments_[moments_.size() * 2 / 3].event.time};
    Course third;
    const std::string closer = to_json(analyst.window(inner, third));
    Course fourth;
    EXPECT_EQ(closer, to_json(Analyst(trace, by_address()).window(inner, fourth)));
}

TEST_P(WindowTest, MayBeStopped) {
    const trace::Trace trace(folder_.file("trace"));
    Analyst analyst(trace, by_address());
    Course course;
    course.stop();
    EXPECT_THROW((void)analyst.window(window_, course), Unwanted);
}

INSTANTIATE_TEST_SUITE_P(Random, WindowTest,
                         testing::Values(Part{1, 0, 1000}, Part{1, 300, 620}, Part{2, 500, 900}, Part{3, 900, 1000},
                                         Part{3, 700, 705}, Part{2, 0, 20}, Part{1, 444, 444}));

trace::Position position_at(std::uint64_t time, std::size_t blocks) {
    trace::LiveSet live;
    for (std::size_t i = 0; i < blocks; ++i) {
        trace::Block block;
        block.address = 0x1000 + i * 0x10;
        live.add(block);
    }
    return {trace::Time{time}, live, time, 0};
}

// Those that are kept lie evenly, however many moments there were.
TEST(Positions, AreBoundedAndEvenlySpread) {
    constexpr std::size_t kBlocks = 100;
    constexpr std::size_t kRoom = 8;
    const std::uint64_t bytes = position_at(1, kBlocks).bytes();
    for (std::size_t moments = 1; moments <= 70; ++moments) {
        Positions positions(bytes * kRoom);
        EXPECT_EQ(positions.before(trace::Time{5}), nullptr);
        for (std::size_t moment = 1; moment <= moments; ++moment) {
            if (positions.wants(moment)) positions.keep(position_at(moment, kBlocks), moments - moment);
        }
        std::set<std::uint64_t> kept;
        for (std::uint64_t time = 1; time <= moments + 1; ++time) {
            const trace::Position *const position = positions.before(trace::Time{time});
            if (position == nullptr) continue;
            EXPECT_LT(position->time().units, time);
            kept.insert(position->time().units);
        }
        EXPECT_LE(kept.size(), kRoom);
        EXPECT_GE(kept.size(), std::min(moments, kRoom / 2));
        const std::uint64_t apart = *kept.begin();
        for (std::size_t i = 0; i < kept.size(); ++i) EXPECT_TRUE(kept.contains(apart * (i + 1)));
        EXPECT_LT(moments - *kept.rbegin(), apart);
    }
}

TEST(Positions, WhatWasVisitedIsOneBesides) {
    const std::uint64_t bytes = position_at(1, 100).bytes();
    Positions positions(bytes * 2 - 1);
    positions.keep(position_at(10, 0), 1);
    positions.keep(position_at(50, 0), 0);
    positions.visit(position_at(30, 99));
    const auto time_before = [&](std::uint64_t time) { return positions.before(trace::Time{time})->time().units; };
    EXPECT_EQ(time_before(30), 10U);
    EXPECT_EQ(time_before(31), 30U);
    EXPECT_EQ(time_before(51), 50U);
    positions.visit(position_at(5, 0));
    EXPECT_EQ(time_before(31), 10U);
    EXPECT_EQ(time_before(6), 5U);
    positions.visit(position_at(60, 100));
    EXPECT_EQ(time_before(61), 50U);
}

// Of the summaries alone: sums are exact.
TEST(FirstPicture, SumsAreTheEventsSums) {
    const Folder folder;
    const History history = History::random(4, 1200);
    history.write(folder.file("trace"), trace::Stacks::all, {}, kEventsABlock);
    const trace::Trace trace(folder.file("trace"));
    const Document first = first_picture(trace);
    const Document whole = analyse(trace, by_address());
    EXPECT_EQ(first.slices, whole.slices);
    EXPECT_EQ(first.notes.size(), 1U);
    std::map<std::string, double> counts;
    std::map<double, double> sizes;
    for (const Moment &moment : history.moments()) {
        if (frees(moment.event.op)) counts["frees"] += 1;
        if (obtains(moment.event.op)) counts[moment.event.address != 0 ? "allocations" : "failed allocations"] += 1;
        if (got_memory(moment.event))
            sizes[static_cast<double>(trace::bucket_end(trace::size_bucket(moment.event.size)))] += 1;
    }
    const auto &table = chart_of<TableChart>(section_of(first, "statistics"), "Totals");
    for (const auto &[name, count] : counts) EXPECT_EQ(number_in(table, name, 1), count) << name;
    const auto &bars = chart_of<BarsChart>(section_of(first, "sizes"), "Blocks by size");
    for (std::size_t i = 0; i + 1 < bars.edges.size(); ++i)
        EXPECT_EQ(bars.series[0].values[i], sizes[bars.edges[i + 1]]) << i;
    const auto &rates = chart_of<SeriesChart>(section_of(first, "statistics"), "Calls per second");
    const double width = (static_cast<double>(trace.last().units) + 1) * kUnit / TimeAxis::kPoints;
    const std::vector<double> &obtained = rates.series[0].values;
    EXPECT_NEAR(std::accumulate(obtained.begin(), obtained.end(), 0.0) * width,
                counts["allocations"] + counts["failed allocations"], 1e-6);
    const auto &blocks = chart_of<SeriesChart>(section_of(first, "footprint"), "Blocks in use (estimate)");
    EXPECT_EQ(blocks.series[0].values.back(), static_cast<double>(history.end().size()));
}

}  // namespace gr::tool::window_test
