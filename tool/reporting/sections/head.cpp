// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reporting/sections/head.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/text.hpp"
#include "reporting/document/words.hpp"

namespace gr::tool {

namespace {

std::string printable_base_name(const std::string &path) {
    const std::size_t slash = path.rfind('/');
    return printable(slash == std::string::npos ? path : path.substr(slash + 1));
}

std::string stacks_text(const trace::Start &start) {
    switch (start.stacks) {
        case trace::Stacks::none:
            return "none";
        case trace::Stacks::all:
            return "of every allocation";
        case trace::Stacks::sampled:
            return fmt::format("of one allocation for every {} allocated, on average",
                               bytes_words(static_cast<double>(start.stack_bytes)));
    }
    return "";
}

std::string when_text(const trace::Start &start) {
    constexpr std::int64_t kNanoseconds = 1'000'000'000;
    const auto began = static_cast<std::time_t>(start.began_nanoseconds / kNanoseconds);
    std::tm parts{};
    if (::gmtime_r(&began, &parts) == nullptr) return "";
    return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", parts);
}

// libc describes no real-time signals.
std::string killed_by(int signal) {
    const char *const description = ::sigdescr_np(signal);
    return description == nullptr ? fmt::format("killed by signal {}", signal)
                                  : fmt::format("killed by signal {} ({})", signal, description);
}

std::string end_text(const trace::Trace &trace) {
    if (!trace.end()) return "not known: the trace is cut off";
    const trace::End &end = *trace.end();
    switch (end.reason) {
        case trace::End::Reason::exit:
            return fmt::format("exit {}", end.status);
        case trace::End::Reason::signal:
            return killed_by(end.status);
        case trace::End::Reason::exec:
            return "replaced by another program (exec)";
        case trace::End::Reason::unknown:
            break;
    }
    return "not known";
}

double length_of(const trace::Trace &trace) { return seconds(trace::Time{trace.last().units + 1}); }

// To the unit of time, without zeros at the end.
std::string moment_text(double moment) {
    std::string text = fmt::format("{:.7f}", moment);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text + " s";
}

void tell_window(const Scope &scope, Document *document) {
    if (!scope.is_window) return;
    const std::vector<double> ends = scope.time.ends();
    document->window = {ends.front(), ends.back()};
    document->notes.push_back(fmt::format(
        "This report covers only the time from {} to {}, of {}. It counts the events in this time and the blocks in "
        "use at its start, but no earlier calls. 'At the end' means the end of this time.",
        moment_text(ends.front()), moment_text(ends.back()), time_words(length_of(scope.trace))));
}

// Of processes whose trace lies beside this one; the others are counted.
void tell_relatives(const trace::Trace &trace, Document *document) {
    namespace fs = std::filesystem;
    constexpr std::size_t kMost = 8;
    const fs::path folder = fs::path(trace.path()).parent_path();
    std::size_t told = 0;
    std::size_t beside = 0;
    std::size_t missing = 0;
    for (const trace::Relative &relative : trace.relatives()) {
        std::error_code error;
        if (!fs::exists(folder / fs::path(relative.file).filename(), error)) {
            ++missing;
            continue;
        }
        ++beside;
        if (told == kMost) continue;
        ++told;
        document->notes.push_back(fmt::format(
            "{} after the start, the process {} process {}; the trace of that process is {}.",
            time_words(seconds(relative.time)), relative.is_same_process ? "called exec and continued as" : "forked",
            relative.process, in_quotes(relative.file)));
    }
    if (beside > told) {
        document->notes.push_back(
            fmt::format("The traces of {} are beside this one, too.",
                        count_words(static_cast<double>(beside - told), "more process", "more processes")));
    }
    if (missing != 0) {
        document->notes.push_back(
            fmt::format("The process also started {} whose {} not beside this one. The recorder leaves out small "
                        "traces where there are many.",
                        count_words(static_cast<double>(missing), "process", "processes"),
                        missing == 1 ? "trace is" : "traces are"));
    }
}

void add_facts(const Scope &scope, Document *document) {
    const trace::Trace &trace = scope.trace;
    const trace::Start &start = trace.start();
    const auto add = [&](const char *name, std::string text) {
        if (!text.empty()) document->facts.emplace_back(name, std::move(text));
    };
    std::string command;
    for (const std::string &argument : start.arguments) command += (command.empty() ? "" : " ") + argument;
    add("program", printable(start.program));
    add("command", printable(command));
    add("allocator", printable(start.allocator));
    add("process", fmt::format("{}", start.process));
    if (start.began_nanoseconds != 0) add("began", when_text(start));
    add("took", time_words(length_of(trace)));
    add("ended", end_text(trace));
    add("machine", printable(start.machine));
    if (start.cpus != 0) add("CPUs", fmt::format("{}", start.cpus));
    if (start.physical_bytes != 0) add("memory", bytes_words(static_cast<double>(start.physical_bytes)));
    add("events", count_words(static_cast<double>(trace.events())));
    add("threads", fmt::format("{}", trace.threads().size()));
    add("stacks", stacks_text(start));
    add("calls timed", start.timed_calls == 0 ? "none" : fmt::format("one in {}", start.timed_calls));
    add("trace",
        fmt::format("{}, {}", printable_base_name(trace.path()), bytes_words(static_cast<double>(trace.bytes()))));
    add("recorded by", printable(start.recorder));
}

}  // namespace

Document head_of(const Scope &scope, std::uint64_t left_out) {
    const trace::Trace &trace = scope.trace;
    Document document;
    document.title = printable_base_name(trace.start().program);
    if (document.title.empty()) document.title = printable_base_name(trace.path());
    add_facts(scope, &document);
    if (!trace.damage().empty()) document.notes.push_back(printable(trace.damage()));
    if (left_out != 0) {
        document.notes.push_back(fmt::format("{} could not be read, because their part of the file is damaged.",
                                             count_words(static_cast<double>(left_out), "event", "events")));
    }
    if (trace.lost() != 0) {
        document.notes.push_back(
            fmt::format("{} are missing, because the recording had no room for them. The numbers are too low, "
                        "and some freed blocks may be shown as in use.",
                        count_words(static_cast<double>(trace.lost()), "event", "events")));
    }
    tell_relatives(trace, &document);
    tell_window(scope, &document);
    document.slices = scope.time.edges(TimeAxis::kSlices);
    for (const trace::Mark &mark : trace.marks()) {
        if (scope.time.has(mark.time)) document.marks.push_back({seconds(mark.time), printable(mark.text)});
    }
    return document;
}

void tell_story(Document *document) {
    constexpr std::array<std::string_view, 4> kSections{"footprint", "resident", "fragmentation", "lifetimes"};
    constexpr std::size_t kOverviewSeries = 2;  // in use, and resident
    for (const Section &section : document->sections) {
        if (std::ranges::find(kSections, section.id) == kSections.end() || section.charts.empty()) continue;
        document->story.push_back(section.answer.substr(0, section.answer.find(". ")));
        if (document->story.back().back() != '.') document->story.back() += '.';
        if (section.id != kSections.front()) continue;
        document->overview = std::get<SeriesChart>(section.charts.front());
        std::vector<SeriesChart::Series> &series = document->overview->series;
        series.resize(std::min(series.size(), kOverviewSeries));
    }
}

}  // namespace gr::tool
