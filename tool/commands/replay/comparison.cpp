// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/replay/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace gr::tool {

const std::array<const char *, 4> kNotShown = {
    "what the program does with its blocks: its cache misses and TLB misses depend on where the blocks lie",
    "the pauses of the program: calls follow each other without delay, so memory that an allocator returns later stays",
    "the free order of calls in different threads: a thread waits if it frees another thread's block, and at "
    "milestones",
    "memory that the program itself requested from the kernel"};

const std::array<Measure, 8> kMeasures = {{
    {"wall_seconds", "time", Unit::seconds, [](const Performance &one) { return one.wall_seconds; }},
    {"cpu_seconds", "CPU time", Unit::seconds,
     [](const Performance &one) { return one.user_seconds + one.system_seconds; }},
    {"most_resident_bytes", "most resident", Unit::bytes,
     [](const Performance &one) { return static_cast<double>(one.most_resident); }},
    {"resident_at_peak_bytes", "at the peak", Unit::bytes,
     [](const Performance &one) { return static_cast<double>(one.resident_at_peak); }},
    {"resident_at_end_bytes", "at the end", Unit::bytes,
     [](const Performance &one) { return static_cast<double>(one.resident_at_end); }},
    {"live_at_peak_bytes", "", Unit::bytes,
     [](const Performance &one) { return static_cast<double>(one.live_at_peak); }},
    {"faults", "faults", Unit::count, [](const Performance &one) { return static_cast<double>(one.faults); }},
    {"failed", "", Unit::count, [](const Performance &one) { return static_cast<double>(one.failed); }},
}};

Range range_of(const AllocatorRounds &one, const Measure &measure) {
    std::vector<double> values;
    for (const Performance &round : one.rounds) values.push_back(measure.get(round));
    std::ranges::sort(values);
    const std::size_t half = values.size() / 2;
    const double median = values.size() % 2 != 0 ? values[half] : (values[half - 1] + values[half]) / 2;
    return {median, values.front(), values.back()};
}

const AllocatorRounds &least_of(const std::vector<AllocatorRounds> &results, const Measure &measure) {
    return *std::ranges::min_element(results, {},
                                     [&](const AllocatorRounds &one) { return range_of(one, measure).median; });
}

namespace {

using Json = nlohmann::json;

std::string value_text(const Measure &measure, double value) {
    if (measure.unit == Unit::bytes) return bytes_text(static_cast<std::uint64_t>(value));
    if (measure.unit == Unit::count) return fmt::format("{:.0f}", value);
    return fmt::format("{:.3f} s", value);
}

std::string head_text(const trace::Trace &trace, const Plan &plan) {
    std::string text =
        fmt::format("{}: {} operations of {} thread{}; {} in use at the peak, {} at the end.\n",
                    printable(trace.start().program), plan.operations, plan.threads, plan.threads == 1 ? "" : "s",
                    bytes_text(plan.peak_bytes), bytes_text(plan.end_bytes));
    if (plan.unknown_frees != 0) {
        text += fmt::format("{} frees of blocks that were allocated before the recording began are left out.\n",
                            plan.unknown_frees);
    }
    return text;
}

// The allocator that takes the least, and those whose rounds overlap with its rounds.
std::string least_text(const std::vector<AllocatorRounds> &results, const Measure &measure) {
    const AllocatorRounds &least = least_of(results, measure);
    std::vector<std::string> names{least.allocator.name};
    for (const AllocatorRounds &one : results) {
        if (&one != &least && range_of(one, measure).least <= range_of(least, measure).most)
            names.push_back(one.allocator.name);
    }
    return fmt::format("{} take{} the least {}", list_text(names, names.size()), names.size() == 1 ? "s" : "",
                       measure.unit == Unit::bytes ? "memory" : measure.title);
}

// One round shows no difference.
std::string winner_text(const std::vector<AllocatorRounds> &results) {
    if (results.size() < 2 || results.front().rounds.size() < 2) return "";
    return fmt::format("{}; {}. Allocators whose rounds overlap count as equal.\n",
                       least_text(results, kMeasures[kCpu]), least_text(results, kMeasures[kMost]));
}

}  // namespace

std::string comparison_text(const trace::Trace &trace, const Plan &plan, const std::vector<AllocatorRounds> &results) {
    std::string text = head_text(trace, plan);
    std::size_t width = 10;
    for (const AllocatorRounds &one : results) width = std::max(width, one.allocator.name.size() + 2);
    text += fmt::format("\n{:<{}}", "", width);
    for (const Measure &measure : kMeasures) {
        if (*measure.title != 0) text += fmt::format("{:>15}", measure.title);
    }
    text += "\n";
    for (const AllocatorRounds &one : results) {
        text += fmt::format("{:<{}}", one.allocator.name, width);
        for (const Measure &measure : kMeasures) {
            if (*measure.title != 0) text += fmt::format("{:>15}", value_text(measure, range_of(one, measure).median));
        }
        text += "\n";
        const double failed = range_of(one, kMeasures[kFailed]).most;
        if (failed > 0) text += fmt::format("{:<{}}{:.0f} calls got no memory\n", "", width, failed);
    }
    text += "\n" + winner_text(results) + "Memory is anonymous memory without that of the replaying process.";
    if (results.front().rounds.size() > 1) text += fmt::format(" Medians of {} rounds.", results.front().rounds.size());
    text += "\nA replay does not show:\n";
    for (const char *one : kNotShown) text += fmt::format("  - {}\n", one);
    return text;
}

std::string comparison_json(const trace::Trace &trace, const Plan &plan, const std::vector<AllocatorRounds> &results) {
    Json json;
    json["program"] = trace.start().program;
    json["operations"] = plan.operations;
    json["threads"] = plan.threads;
    json["peak_bytes"] = plan.peak_bytes;
    json["end_bytes"] = plan.end_bytes;
    json["unknown_frees"] = plan.unknown_frees;
    json["live"] = Json::array();
    for (const LivePoint &point : plan.live) json["live"].push_back({point.operations, point.bytes});
    json["not_shown"] = kNotShown;
    json["allocators"] = Json::array();
    for (const AllocatorRounds &one : results) {
        Json entry;
        entry["name"] = one.allocator.name;
        entry["library"] = one.allocator.library;
        for (const Measure &measure : kMeasures) {
            const Range range = range_of(one, measure);
            entry[measure.name] = {{"median", range.median}, {"least", range.least}, {"most", range.most}};
        }
        entry["resident"] = Json::array();
        for (const ResidentPoint &point : one.rounds.back().resident)
            entry["resident"].push_back({point.operations, point.bytes});
        json["allocators"].push_back(std::move(entry));
    }
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gr::tool
