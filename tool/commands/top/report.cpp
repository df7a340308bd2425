// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/top/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/text.hpp"
#include "reading/symbols/brief_names.hpp"

namespace gr::tool {

namespace {

constexpr double kSecond = 1e9;
constexpr std::size_t kSizeWidth = 10;

std::uint64_t whole(double blocks) { return static_cast<std::uint64_t>(std::llround(std::max(0.0, blocks))); }

double seconds_between(std::uint64_t from, std::uint64_t to) {
    return from < to ? static_cast<double>(to - from) / kSecond : 0;
}

double share_of(std::uint64_t part, std::uint64_t all) {
    return all == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(all);
}

std::string sum_text(const ProfileSum &sum) {
    const std::uint64_t blocks = whole(sum.blocks);
    return fmt::format("{} in {} block{}", bytes_text(sum.bytes), blocks, blocks == 1 ? "" : "s");
}

// Cuts UTF-8 between two characters.
std::string cut(std::string line, std::size_t columns) {
    std::size_t width = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const bool begins = (static_cast<unsigned char>(line[i]) & 0xc0) != 0x80;
        if (begins && width == columns) {
            line.resize(i);
            break;
        }
        width += begins ? 1 : 0;
    }
    return line;
}

std::string calls_text(const std::vector<CodePlace> &calls, const BriefNames &names) {
    if (calls.empty()) return "(no call stack)";
    std::string text;
    for (const CodePlace &call : calls) {
        if (!text.empty()) text += " < ";
        text += printable(names.name_of(Holder::name_of(call)));
        if (&call != &calls.front() || call.file.empty()) continue;
        text += fmt::format(" ({}:{})", printable(call.file.substr(call.file.rfind('/') + 1)), call.line);
    }
    return text;
}

std::string head_text(const Holders &h) {
    std::string text =
        fmt::format("process {}, {}: {} in use\n", h.process, printable(h.executable), sum_text(h.profile.totals.live));
    auto out = std::back_inserter(text);
    const double age = seconds_between(h.profile.began, h.now);
    fmt::format_to(out, "at the peak{}: {}; allocated in {:.0f} s: {}\n",
                   h.profile.peak_time == 0
                       ? std::string()
                       : fmt::format(", {:.0f} s ago", seconds_between(h.profile.peak_time, h.now)),
                   sum_text(h.profile.totals.peak), age, sum_text(h.profile.totals.allocated));
    fmt::format_to(out, "estimates from samples, one every {} on average{}{}\n", bytes_text(h.profile.mean),
                   h.profile.missed == 0 ? "" : fmt::format("; {} samples could not be taken", h.profile.missed),
                   h.profile.is_whole ? "" : "; the numbers may disagree, as the process changed them meanwhile");
    return text;
}

void put_sum(JsonWriter &json, const char *name, const ProfileSum &sum) {
    json.key(name);
    json.begin_object();
    json.key("bytes");
    json.number(sum.bytes);
    json.key("blocks");
    json.number(whole(sum.blocks));
    json.end_object();
}

void put_sums(JsonWriter &json, const ProfileSums &sums) {
    put_sum(json, "live", sums.live);
    put_sum(json, "peak", sums.peak);
    put_sum(json, "allocated", sums.allocated);
}

void put_call(JsonWriter &json, const CodePlace &call) {
    const auto put = [&](const char *name, const std::string &value) {
        if (value.empty()) return;
        json.key(name);
        json.text(value);
    };
    json.begin_object();
    json.key("address");
    json.number(call.address);
    put("function", call.function);
    put("file", call.file);
    if (!call.file.empty()) {
        json.key("line");
        json.number(static_cast<std::uint64_t>(call.line));
    }
    put("module", call.module);
    json.end_object();
}

}  // namespace

std::string top_text(const Holders &holders, const Screen &screen) {
    BriefNames names;  // without any, all names are whole
    for (const Holder &holder : holders.all) {
        for (const CodePlace &call : holder.calls) {
            if (!screen.has_whole_names) names.add(Holder::name_of(call));
        }
    }
    std::string text = head_text(holders);
    text += fmt::format("\n{:>{}} {:>5} {:>10} {:>{}} {:>{}}  the function that wanted the memory < its callers\n",
                        "in use", kSizeWidth, "%", "blocks", "peak", kSizeWidth, "allocated", kSizeWidth);
    const std::size_t shown = std::min(screen.rows, holders.all.size());
    for (std::size_t i = 0; i < shown; ++i) {
        const Holder &holder = holders.all[i];
        const ProfileSums &sums = holder.sums;
        text += fmt::format("{:>{}} {:>5.1f} {:>10} {:>{}} {:>{}}  {}\n", bytes_text(sums.live.bytes), kSizeWidth,
                            share_of(sums.live.bytes, holders.profile.totals.live.bytes), whole(sums.live.blocks),
                            bytes_text(sums.peak.bytes), kSizeWidth, bytes_text(sums.allocated.bytes), kSizeWidth,
                            calls_text(holder.calls, names));
    }
    if (shown < holders.all.size()) text += fmt::format("and {} more\n", holders.all.size() - shown);
    std::string fitting;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        fitting += cut(text.substr(at, end - at), screen.columns) + '\n';
        at = end + 1;
    }
    return fitting;
}

std::string top_json(const Holders &holders) {
    JsonWriter json;
    const auto put = [&](const char *name, std::uint64_t value) {
        json.key(name);
        json.number(value);
    };
    json.begin_object();
    put("process", static_cast<std::uint64_t>(holders.process));
    json.key("path");
    json.text(holders.executable);
    put("sampled_bytes", holders.profile.mean);
    put("missed_samples", holders.profile.missed);
    put("nanoseconds", holders.now - std::min(holders.now, holders.profile.began));
    put_sums(json, holders.profile.totals);
    json.key("holders");
    json.begin_array();
    for (const Holder &holder : holders.all) {
        json.begin_object();
        put_sums(json, holder.sums);
        json.key("calls");
        json.begin_array();
        for (const CodePlace &call : holder.calls) put_call(json, call);
        json.end_array();
        json.end_object();
    }
    json.end_array();
    json.end_object();
    return json.result() + "\n";
}

}  // namespace gr::tool
