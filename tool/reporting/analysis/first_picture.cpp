// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reporting/analysis/first_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "reading/trace/chunk.hpp"
#include "reporting/document/words.hpp"
#include "reporting/sections/head.hpp"
#include "reporting/steps/samples.hpp"
#include "reporting/steps/scope.hpp"

namespace gr::tool {

namespace {

using trace::EventsSummary;

// A number of all blocks over time.
class Spread {
  public:
    explicit Spread(const TimeAxis &axis) : axis_(axis), points_(TimeAxis::kPoints) {}

    void add(const EventsSummary &summary, double number) {
        const auto first = static_cast<double>(summary.first_time);
        const auto behind = static_cast<double>(summary.last_time) + 1;
        const double width = static_cast<double>(axis_.last().units + 1) / TimeAxis::kPoints;
        const std::uint32_t last_point = axis_.point_of(trace::Time{summary.last_time});
        for (std::uint32_t i = axis_.point_of(trace::Time{summary.first_time}); i <= last_point; ++i) {
            const double from = std::max(first, width * i);
            const double to = i == last_point ? behind : std::min(behind, width * (i + 1));
            points_[i] += number * std::max(0.0, to - from) / (behind - first);
        }
    }
    [[nodiscard]] std::vector<double> a_second() const {
        std::vector<double> rates;
        for (const double point : points_) rates.push_back(point * TimeAxis::kPoints / axis_.length());
        return rates;
    }
    // Behind each point, of all until then.
    [[nodiscard]] std::vector<double> sums() const {
        std::vector<double> sums;
        double sum = 0;
        for (const double point : points_) sums.push_back(std::max(0.0, std::round(sum += point)));
        return sums;
    }

  private:
    const TimeAxis &axis_;
    std::vector<double> points_;
};

SeriesChart over_time(const Scope &scope, std::string title, Axis axis) {
    SeriesChart chart;
    chart.title = std::move(title);
    chart.x = {"time", Unit::time};
    chart.y = std::move(axis);
    chart.at = scope.time.point_ends();
    return chart;
}

class FirstPicture {
  public:
    explicit FirstPicture(const Scope &scope)
        : scope_(scope),
          in_use_(scope.time),
          obtained_(scope.time),
          freed_(scope.time),
          bytes_(scope.time),
          threads_(scope.threads.count()) {
        for (const trace::EventBlock &block : scope.trace.blocks()) {
            if (block.summary.events != 0) add(block.summary);
        }
    }

    [[nodiscard]] Document document() const {
        Document document = head_of(scope_, 0);
        document.notes.emplace_back(
            "This is a first picture, an estimate from the summaries of the trace's blocks of events. It does not "
            "show the bytes in use, because a summary does not contain the number of freed bytes. The calls of each "
            "block of events are spread evenly over the time of that block.");
        document.sections = {footprint(), statistics(), sizes(), threads()};
        document.overview = std::get<SeriesChart>(document.sections.front().charts.front());
        for (const Section &section : document.sections) document.story.push_back(section.answer);
        document.story.pop_back();
        return document;
    }

  private:
    struct Sum {
        double events = 0;
        double obtained = 0;
        double freed = 0;
        double failed = 0;
        double of_pages = 0;
        double bytes = 0;

        void add(const EventsSummary &summary) {
            events += summary.events;
            obtained += summary.obtained;
            freed += summary.freed;
            failed += summary.failed;
            of_pages += summary.of_pages;
            bytes += static_cast<double>(summary.bytes);
        }
    };

    void add(const EventsSummary &summary) {
        all_.add(summary);
        if (summary.thread < scope_.trace.threads().size())
            threads_[scope_.threads.of(trace::ThreadNumber{summary.thread})].add(summary);
        in_use_.add(summary, static_cast<double>(summary.obtained) - static_cast<double>(summary.freed));
        obtained_.add(summary, static_cast<double>(summary.obtained) + static_cast<double>(summary.failed));
        freed_.add(summary, summary.freed);
        bytes_.add(summary, static_cast<double>(summary.bytes));
        for (unsigned i = 0; i < trace::kSizeBuckets; ++i) sizes_[i] += summary.sizes[i];
    }

    [[nodiscard]] Section footprint() const {
        Section section{"footprint", "How much is in use?", "", {}};
        SeriesChart blocks = over_time(scope_, "Blocks in use (estimate)", {"blocks", Unit::count});
        blocks.series = {{"in use", in_use_.sums()}};
        section.answer = fmt::format("At the end, {} were in use (allocated minus freed).",
                                     count_words(std::max(0.0, all_.obtained - all_.freed), "block", "blocks"));
        if (const trace::Sample *const highest = highest_resident(scope_)) {
            SeriesChart resident = over_time(scope_, "Bytes resident", {"bytes", Unit::bytes});
            resident.series = {{"resident", at_points(scope_, &trace::Sample::resident_bytes)},
                               {"anonymous", at_points(scope_, &trace::Sample::anonymous_bytes)}};
            section.answer += fmt::format(" The process had at most {} resident, {} after the start.",
                                          bytes_words(static_cast<double>(highest->resident_bytes)),
                                          time_words(seconds(highest->time)));
            section.charts.emplace_back(std::move(resident));
        }
        section.charts.emplace_back(std::move(blocks));
        return section;
    }

    [[nodiscard]] Section statistics() const {
        Section section{
            "statistics", "How often does the program call its allocator, and what does that cost?", "", {}};
        section.answer = fmt::format("{} and {} in {}.", count_words(all_.obtained, "allocation", "allocations"),
                                     count_words(all_.freed, "free", "frees"), time_words(scope_.time.length()));
        SeriesChart calls = over_time(scope_, "Calls per second", {"calls per second", Unit::per_second});
        calls.series = {{"allocations", obtained_.a_second()}, {"frees", freed_.a_second()}};
        SeriesChart bytes = over_time(scope_, "Bytes requested per second", {"bytes per second", Unit::bytes});
        bytes.series = {{"requested", bytes_.a_second()}};
        TableChart table;
        table.title = "Totals";
        table.columns = {{"what", Unit::text}, {"number", Unit::count}};
        table.rows = {{"allocations", all_.obtained},
                      {"frees", all_.freed},
                      {"failed allocations", all_.failed},
                      {"calls to the kernel", all_.of_pages}};
        section.charts = {std::move(calls), std::move(bytes), std::move(table)};
        return section;
    }

    [[nodiscard]] Section sizes() const {
        Section section{"sizes", "How large are the blocks that the program requests?", "", {}};
        if (all_.obtained == 0) {
            section.answer = "No allocation succeeded.";
            return section;
        }
        section.answer = fmt::format("The program requested {}: {} in total, {} on average.",
                                     count_words(all_.obtained, "block", "blocks"), bytes_words(all_.bytes),
                                     bytes_words(all_.bytes / all_.obtained));
        BarsChart chart;
        chart.title = "Blocks by size";
        chart.x = {"requested size", Unit::bytes, Scale::log};
        chart.y = {"blocks", Unit::count};
        chart.is_cumulative = true;
        unsigned first = 0;
        unsigned behind = trace::kSizeBuckets;
        while (behind > 1 && sizes_[behind - 1] == 0) --behind;
        while (first + 1 < behind && sizes_[first] == 0) ++first;
        chart.edges = {first == 0 ? 0 : static_cast<double>(trace::bucket_end(first - 1))};
        for (unsigned i = first; i < behind; ++i) chart.edges.push_back(static_cast<double>(trace::bucket_end(i)));
        chart.series = {{"blocks", {sizes_.begin() + first, sizes_.begin() + behind}, {}}};
        section.charts = {std::move(chart)};
        return section;
    }

    [[nodiscard]] Section threads() const {
        Section section{"threads", "Which threads allocate, and which free?", "", {}};
        section.answer = count_words(static_cast<double>(scope_.trace.threads().size()), "thread called the allocator.",
                                     "threads called the allocator.");
        TableChart table;
        table.title = "Threads";
        table.columns = {{"thread", Unit::text},
                         {"events", Unit::count},
                         {"blocks allocated", Unit::count},
                         {"bytes allocated", Unit::bytes},
                         {"blocks freed", Unit::count}};
        for (std::uint32_t group = 0; group < threads_.size(); ++group) {
            const Sum &sum = threads_[group];
            table.rows.push_back({scope_.threads.name(group), sum.events, sum.obtained, sum.bytes, sum.freed});
        }
        section.charts = {std::move(table)};
        return section;
    }

    const Scope &scope_;
    Spread in_use_;
    Spread obtained_;
    Spread freed_;
    Spread bytes_;
    Sum all_;
    std::array<double, trace::kSizeBuckets> sizes_{};
    std::vector<Sum> threads_;
};

}  // namespace

Document first_picture(const trace::Trace &trace) {
    const Scope scope(trace);
    return FirstPicture(scope).document();
}

}  // namespace gr::tool
