// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/collections/collections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/failure.hpp"
#include "base/text.hpp"

namespace gr::tool {

namespace {

constexpr double kNanoseconds = 1e9;
constexpr double kMilliseconds = 1e3;
constexpr double kPercent = 100;

// A number that is negative or has a fraction throws.
std::uint64_t whole_number(const nlohmann::json &json) {
    return json.get_ref<const nlohmann::json::number_unsigned_t &>();
}

// Of a collection beside the program, before the last.
std::vector<double> root_pauses(const nlohmann::json &line) {
    std::vector<double> pauses;
    if (!line.contains("root_pauses_ns")) return pauses;
    for (const nlohmann::json &pause : line.at("root_pauses_ns"))
        pauses.push_back(static_cast<double>(whole_number(pause)) / kNanoseconds);
    return pauses;
}

Collection parse(const nlohmann::json &line) {
    const auto number = [&](const char *name) { return whole_number(line.at(name)); };
    const auto seconds = [&](const char *name) { return static_cast<double>(number(name)) / kNanoseconds; };
    return {.reason = line.at("reason").get<std::string>(),
            .began = seconds("began_ns"),
            .pause = seconds("pause_ns"),
            .stopping = seconds("stopping_ns"),
            .marking = seconds("marking_ns"),
            .sweeping = seconds("sweeping_ns"),
            .beside = line.contains("beside_ns") ? seconds("beside_ns") : 0,
            .root_pauses = root_pauses(line),
            .threads = number("threads"),
            .held_before = number("held_before"),
            .held = number("held"),
            .live_bytes = number("live_bytes"),
            .live_blocks = number("live_blocks"),
            .freed_blocks = number("freed_blocks")};
}

// What there is to say of one process.
struct Summary {
    double seconds = 0;  // from the beginning of the first to the end of the last
    double longest = 0;
    double stopped = 0;
    double stopping = 0;
    double marking = 0;
    double sweeping = 0;
    double beside = 0;
    double marked = 0;  // bytes
    std::uint64_t most_held = 0;
    std::vector<double> pauses;  // the shortest first
    std::map<std::string, std::size_t> reasons;

    // The shortest pause that so many of all do not exceed.
    [[nodiscard]] double pause_of(double share) const {
        const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(pauses.size())));
        return pauses[std::max<std::size_t>(rank, 1) - 1];
    }
};

Summary summarize(const ProcessCollections &process) {
    Summary sum;
    const Collection &last = process.collections.back();
    sum.seconds = last.began + last.pause - process.collections.front().began;
    for (const Collection &one : process.collections) {
        sum.stopped += one.pause;
        sum.stopping += one.stopping;
        sum.marking += one.marking;
        sum.sweeping += one.sweeping;
        sum.marked += static_cast<double>(one.live_bytes);
        sum.most_held = std::max(sum.most_held, one.held_before);
        sum.beside += one.beside;
        sum.pauses.push_back(one.pause);
        for (const double pause : one.root_pauses) {
            sum.pauses.push_back(pause);
            sum.stopped += pause;
        }
        ++sum.reasons[one.reason];
    }
    std::ranges::sort(sum.pauses);
    sum.longest = sum.pauses.back();
    return sum;
}

double share(double part, double whole) { return whole > 0 ? kPercent * part / whole : 0; }

std::uint64_t rounded(double value) { return static_cast<std::uint64_t>(std::llround(value)); }
std::uint64_t nanoseconds(double seconds) { return rounded(seconds * kNanoseconds); }
double marking_rate(const Summary &sum) {
    const double seconds = sum.marking + sum.beside;
    return seconds > 0 ? sum.marked / seconds : 0;
}

}  // namespace

double Collection::longest_stop() const {
    double longest = pause;
    for (const double root_pause : root_pauses) longest = std::max(longest, root_pause);
    return longest;
}

std::vector<ProcessCollections> read_collections(const std::string &path) {
    std::ifstream file(path);
    if (!file) throw Failure(ExitCode::not_found, fmt::format("cannot read {}", in_quotes(path)));
    std::vector<ProcessCollections> processes;
    std::map<std::uint64_t, std::size_t> places;  // of each process
    std::size_t count = 0;
    for (std::string text; std::getline(file, text);) {
        ++count;
        try {
            const nlohmann::json line = nlohmann::json::parse(text);
            const auto process = whole_number(line.at("process"));
            const auto [known, is_new] = places.try_emplace(process, processes.size());
            if (is_new) processes.push_back({process, {}});
            processes[known->second].collections.push_back(parse(line));
        } catch (const nlohmann::json::exception &) {
            throw Failure(ExitCode::tool_failure,
                          fmt::format("{}, line {}: not a collection; give a file that GRANARY_COLLECTIONS named",
                                      in_quotes(path), count));
        }
    }
    if (processes.empty())
        throw Failure(ExitCode::not_found,
                      fmt::format("{} has no collections: no program that wrote to it has collected", in_quotes(path)));
    return processes;
}

std::string collections_text(const std::vector<ProcessCollections> &processes) {
    std::string text;
    const auto out = std::back_inserter(text);
    for (const ProcessCollections &process : processes) {
        const Summary sum = summarize(process);
        const Collection &last = process.collections.back();
        std::vector<std::string> reasons;
        for (const auto &[reason, count] : sum.reasons)
            reasons.push_back(fmt::format("{} {}", count, printable(reason)));
        fmt::format_to(out, "process {}: {} collections in {:.2f} s ({})\n", process.process,
                       process.collections.size(), sum.seconds, list_text(reasons, reasons.size()));
        fmt::format_to(
            out,
            "  stopped   {:.2f} s, {:.0f} % of that time; stops: median {:.2f} ms, 95th percentile {:.2f} ms, "
            "longest {:.2f} ms\n",
            sum.stopped, share(sum.stopped, sum.seconds), kMilliseconds * sum.pause_of(0.5),
            kMilliseconds * sum.pause_of(0.95), kMilliseconds * sum.longest);
        fmt::format_to(
            out, "  of this   {:.0f} % stopping the threads, {:.0f} % marking ({} per second), {:.0f} % sweeping\n",
            share(sum.stopping, sum.stopped), share(sum.marking, sum.stopped), bytes_text(rounded(marking_rate(sum))),
            share(sum.sweeping, sum.stopped));
        if (sum.beside > 0) fmt::format_to(out, "  running   {:.2f} s of marking while the program ran\n", sum.beside);
        fmt::format_to(out, "  the heap  at most {}; after the last collection: {} held, {} in use in {} blocks\n",
                       bytes_text(sum.most_held), bytes_text(last.held), bytes_text(last.live_bytes), last.live_blocks);
    }
    return text;
}

std::string collections_json(const std::vector<ProcessCollections> &processes) {
    JsonWriter json;
    json.begin_array();
    for (const ProcessCollections &process : processes) {
        const Summary sum = summarize(process);
        const Collection &last = process.collections.back();
        const auto put = [&](std::string_view name, std::uint64_t value) {
            json.key(name);
            json.number(value);
        };
        json.begin_object();
        put("process", process.process);
        put("collections", process.collections.size());
        json.key("reasons");
        json.begin_object();
        for (const auto &[reason, count] : sum.reasons) put(reason, count);
        json.end_object();
        put("span_ns", nanoseconds(sum.seconds));
        put("stopped_ns", nanoseconds(sum.stopped));
        put("stopping_ns", nanoseconds(sum.stopping));
        put("marking_ns", nanoseconds(sum.marking));
        put("sweeping_ns", nanoseconds(sum.sweeping));
        put("beside_ns", nanoseconds(sum.beside));
        put("median_pause_ns", nanoseconds(sum.pause_of(0.5)));
        put("p95_pause_ns", nanoseconds(sum.pause_of(0.95)));
        put("p99_pause_ns", nanoseconds(sum.pause_of(0.99)));
        put("longest_pause_ns", nanoseconds(sum.longest));
        put("marked_bytes_per_second", rounded(marking_rate(sum)));
        put("most_held_bytes", sum.most_held);
        put("held_bytes", last.held);
        put("live_bytes", last.live_bytes);
        put("live_blocks", last.live_blocks);
        json.end_object();
    }
    json.end_array();
    return json.result() + "\n";
}

}  // namespace gr::tool
