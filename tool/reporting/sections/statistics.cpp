// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reporting/sections/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "reporting/charts/bucket_charts.hpp"
#include "reporting/document/words.hpp"
#include "reporting/steps/op_names.hpp"
#include "reporting/steps/samples.hpp"

namespace gr::tool {

namespace {

constexpr double kNanosecond = 1e-9;
constexpr double kMicrosecond = 1e-6;

bool is_call(unsigned op) { return !is_of_pages(trace::Op(op)); }

}  // namespace

// Not a number where none was timed.
double Statistics::Timed::below(double share) const {
    const bool none = calls + long_calls == 0;
    return none ? std::numeric_limits<double>::quiet_NaN() : quantile(counts, share, kNanosecond);
}

double Statistics::time_in(unsigned op) const {
    const Timed &timed = timed_[op];
    if (timed.calls == 0) return std::numeric_limits<double>::quiet_NaN();
    const double mean = static_cast<double>(timed.nanoseconds) / static_cast<double>(timed.calls);
    const double without_clock = std::max(0.0, mean - scope_.trace.start().clock_nanoseconds);
    return without_clock * static_cast<double>(calls_[op]) * kNanosecond;
}

// Of the program's calls, without their counts.
Statistics::Timed Statistics::timed_in_all() const {
    Timed sum;
    for (unsigned op = 0; op < kOps; ++op) {
        if (!is_call(op)) continue;
        sum.calls += timed_[op].calls;
        sum.long_calls += timed_[op].long_calls;
        sum.long_nanoseconds += timed_[op].long_nanoseconds;
    }
    return sum;
}

double Statistics::time_in_all() const {
    double sum = 0;
    for (unsigned op = 0; op < kOps; ++op) {
        if (timed_[op].calls != 0 && is_call(op)) sum += time_in(op);
    }
    return sum;
}

double Statistics::error_in_all() const {
    double squares = 0;
    for (unsigned op = 0; op < kOps; ++op) {
        const Timed &timed = timed_[op];
        if (timed.calls == 0 || !is_call(op)) continue;
        const auto count = static_cast<double>(timed.calls);
        const double mean = static_cast<double>(timed.nanoseconds) / count;
        // One call tells nothing of how much they differ: it may be wrong by as much as it is.
        const double variance = count < 2 ? mean * mean : (timed.squares - count * mean * mean) / (count - 1);
        const double error = std::sqrt(std::max(0.0, variance) / count) * static_cast<double>(calls_[op]);
        squares += error * error;
    }
    return std::sqrt(squares) * kNanosecond;
}

double Statistics::recording_seconds() const {
    const double events = std::accumulate(calls_.begin(), calls_.end(), 0.0);
    const std::optional<trace::End> &end = scope_.trace.end();
    const double stack_nanoseconds = end ? end->stack_nanoseconds : 0;
    return (events * scope_.trace.start().clock_nanoseconds + static_cast<double>(stacks_) * stack_nanoseconds) *
           kNanosecond;
}

double Statistics::own_processor_seconds() const {
    const double all = processor_seconds(scope_);
    return std::max(all - recording_seconds(), std::min(time_in_all(), all));
}

SeriesChart Statistics::rates() const {
    SeriesChart chart;
    chart.title = "Calls per second";
    chart.x = {"time", Unit::time};
    chart.y = {"calls per second", Unit::per_second};
    chart.at = scope_.time.point_ends();
    chart.series = {{"allocations", scope_.time.rates(obtained_)}, {"frees", scope_.time.rates(freed_)}};
    return chart;
}

SeriesChart Statistics::processor() const {
    SeriesChart chart;
    chart.title = "CPU seconds per second";
    chart.x = {"time", Unit::time};
    chart.y = {"CPUs in use", Unit::count};
    chart.is_stacked = true;
    chart.is_step = true;
    chart.at = scope_.time.point_ends();
    const auto share = [&](std::uint64_t trace::Sample::*number) {
        std::vector<double> values = growth_at_points(scope_, number);
        for (double &value : values) value *= kMicrosecond;
        return values;
    };
    chart.series = {{"user", share(&trace::Sample::user_microseconds)},
                    {"system", share(&trace::Sample::system_microseconds)}};
    return chart;
}

TableChart Statistics::table() const {
    TableChart table;
    table.title = "Calls";
    table.columns = {{"function", Unit::text}, {"calls", Unit::count},        {"timed", Unit::count},
                     {"mean", Unit::seconds},  {"half below", Unit::seconds}, {"99 % below", Unit::seconds},
                     {"total", Unit::seconds}};
    for (unsigned op = 0; op < kOps; ++op) {
        if (calls_[op] == 0) continue;
        const Timed &timed = timed_[op];
        const auto calls = static_cast<double>(calls_[op]);
        table.rows.push_back({op_name(trace::Op(op)), calls, static_cast<double>(timed.calls + timed.long_calls),
                              time_in(op) / calls, timed.below(0.5), timed.below(0.99), time_in(op)});
    }
    return table;
}

TableChart Statistics::whole() const {
    const double obtained = kind(StepKind::born);
    const double freed = kind(StepKind::died);
    const double length = seconds(last_) - seconds(first_);
    const double processor = processor_seconds(scope_);
    const double own = own_processor_seconds();
    TableChart table;
    table.title = "Totals";
    table.columns = {{"what", Unit::text}, {"number", Unit::count}, {"time", Unit::seconds}, {"share", Unit::fraction}};
    const double none = std::numeric_limits<double>::quiet_NaN();
    const Timed timed = timed_in_all();
    const double in_calls = timed.calls != 0 && !is_time_uncertain() ? time_in_all() : none;
    table.rows = {{"allocations", obtained, none, none},
                  {"frees", freed, none, none},
                  {"failed allocations", kind(StepKind::failed), none, none},
                  {"frees of unknown blocks", kind(StepKind::unknown_free), none, none},
                  {"allocated and not freed", obtained - freed, none, ratio(obtained - freed, obtained)},
                  {"from the first call to the last", none, length, none},
                  {"CPU time", none, processor > 0 ? processor : none, none},
                  {"CPU time without the recording's part (estimate)", none, processor > 0 ? own : none,
                   processor > 0 ? own / processor : none},
                  {"time in calls, share of the CPU time without the recording's part", none, in_calls,
                   processor > 0 ? in_calls / own : none},
                  {"standard error of the time in calls", none, timed.calls != 0 ? error_in_all() : none, none},
                  {"timed calls of more than 1 ms, left out", static_cast<double>(timed.long_calls),
                   static_cast<double>(timed.long_nanoseconds) * kNanosecond, none},
                  {"allocations per second", ratio(obtained, length), none, none}};
    return table;
}

BarsChart Statistics::call_times() const {
    BarsChart chart;
    chart.title = "Timed calls by duration";
    chart.x = {"duration of a call", Unit::seconds, Scale::log};
    chart.y = {"calls", Unit::count};
    chart.is_cumulative = true;
    BucketRange range;
    for (const Timed &timed : timed_) range.widen(timed.counts);
    chart.edges = range.edges(kNanosecond);
    for (unsigned op = 0; op < kOps; ++op) {
        if (timed_[op].calls + timed_[op].long_calls != 0)
            chart.series.push_back({op_name(trace::Op(op)), range.shown(timed_[op].counts), {}});
    }
    return chart;
}

// One timed call stands for many, so one that was preempted can make the sum many times what it is.
bool Statistics::is_time_uncertain() const {
    constexpr double kMostError = 0.5;
    return error_in_all() > kMostError * time_in_all();
}

std::string Statistics::time_answer() const {
    const Timed timed = timed_in_all();
    if (timed.calls + timed.long_calls == 0) return " No call was timed.";
    if (timed.calls == 0) return long_answer();
    const double processor = processor_seconds(scope_);
    const double own = own_processor_seconds();
    const double in_calls = time_in_all();
    if (is_time_uncertain()) {
        return fmt::format(" Only {} timed: too few to tell how long the calls took in total.",
                           count_words(static_cast<double>(timed.calls), "call was", "calls were")) +
               long_answer();
    }
    std::string text =
        fmt::format(" Calls took about {} in total (± {})", time_words(in_calls), time_words(error_in_all()));
    if (processor <= 0) return text + "." + long_answer();
    text += own <= in_calls ? ", nearly all of the program's own CPU time."
                            : fmt::format(", {} of the program's own CPU time of about {}.", share_words(in_calls, own),
                                          time_words(own));
    constexpr double kWorthTelling = 0.01;
    if (const double recording = processor - own; recording > kWorthTelling * processor) {
        text +=
            fmt::format(" That is without the recording itself, which took about {} of the process's {} of CPU time.",
                        time_words(recording), time_words(processor));
    }
    return text + long_answer();
}

std::string Statistics::long_answer() const {
    const Timed timed = timed_in_all();
    if (timed.long_calls == 0) return "";
    return fmt::format(
        " Of {}, {} took more than {}, {} in total. Such calls are left out, because other threads most likely ran "
        "meanwhile.",
        count_words(static_cast<double>(timed.calls + timed.long_calls), "timed call", "timed calls"),
        count_words(static_cast<double>(timed.long_calls)), time_words(kSlice * kNanosecond),
        time_words(static_cast<double>(timed.long_nanoseconds) * kNanosecond));
}

Section Statistics::section() const {
    Section section{"statistics", "How often does the program call its allocator, and what does that cost?", "", {}};
    if (!has_begun_) {
        section.answer = "The program never called its allocator.";
        return section;
    }
    const double obtained = kind(StepKind::born);
    const double length = seconds(last_) - seconds(first_);
    section.answer = fmt::format("{} and {} in {}", count_words(obtained, "allocation", "allocations"),
                                 count_words(kind(StepKind::died), "free", "frees"), time_words(length));
    if (length > 0)
        section.answer += fmt::format(": {} allocations per second", count_words(std::round(obtained / length)));
    section.answer += "." + time_answer();
    section.charts = {rates()};
    if (!scope_.trace.samples().empty()) section.charts.emplace_back(processor());
    BarsChart times = call_times();
    if (!times.series.empty()) section.charts.emplace_back(std::move(times));
    section.charts.emplace_back(table());
    section.charts.emplace_back(whole());
    return section;
}

}  // namespace gr::tool
