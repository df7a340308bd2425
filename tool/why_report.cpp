// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      why a process' resident set is as large as it is, as text and as JSON.
// Invariant: see why_report.hpp.
// Must not know: how anything was found.
#include "why_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "text.hpp"

namespace gr::tool {

namespace {

std::uint64_t whole(double bytes) { return static_cast<std::uint64_t>(std::llround(bytes)); }

constexpr std::size_t kWidth = 100;  // of a line of text

// Text that begins in `column`, broken at blanks, and goes on there.
std::string folded(std::string text, std::size_t column) {
    for (std::size_t start = 0; text.size() - start > kWidth - column;) {
        const std::size_t blank = text.rfind(' ', start + kWidth - column);
        if (blank == std::string::npos || blank <= start) break;
        text.replace(blank, 1, "\n" + std::string(column, ' '));
        start = blank + 1 + column;
    }
    return text;
}

void put_number(JsonWriter &json, std::string_view name, std::uint64_t value) {
    json.key(name);
    json.number(value);
}

void put_text(JsonWriter &json, std::string_view name, std::string_view value) {
    json.key(name);
    json.text(value);
}

void put_shares(JsonWriter &json, const std::vector<Share> &shares) {
    json.key("parts");
    json.begin_array();
    for (const Share &share : shares) {
        json.begin_object();
        put_text(json, "name", share.name);
        put_text(json, "of", share.granary ? "granary" : "others");
        put_number(json, "resident_bytes", share.resident);
        if (share.bytes != 0) put_number(json, "bytes", share.bytes);
        put_text(json, "meaning", share.text);
        json.end_object();
    }
    json.end_array();
}

void put_classes(JsonWriter &json, const std::vector<ClassSummary> &classes) {
    json.key("classes");
    json.begin_array();
    for (const ClassSummary &c : classes) {
        json.begin_object();
        put_number(json, "block_bytes", c.block_bytes);
        put_number(json, "superblocks", c.superblocks);
        put_number(json, "blocks", c.blocks);
        put_number(json, "live_blocks", c.live_blocks);
        put_number(json, "free_bytes", amount(c.amounts, Part::kFree).bytes);
        put_number(json, "free_resident_bytes", whole(amount(c.amounts, Part::kFree).resident));
        json.end_object();
    }
    json.end_array();
}

}  // namespace

std::string why_text(const Explanation &explanation) {
    const std::string huge =
        explanation.huge == 0 ? "" : fmt::format(", {} of it in huge pages", bytes_text(explanation.huge));
    std::string result = fmt::format("RSS {}{}: process {} ({}) on Granary\n", bytes_text(explanation.resident), huge,
                                     explanation.process, printable(explanation.executable));
    const auto out = std::back_inserter(result);
    constexpr std::size_t kNumberWidth = 11;
    bool others = false;
    for (const Share &share : explanation.shares) {
        if (share.resident == 0) continue;
        if (!share.granary && !others) fmt::format_to(out, "not Granary's:\n");
        others = !share.granary;
        fmt::format_to(out, "  {:>{}}  {}\n", bytes_text(share.resident), kNumberWidth,
                       folded(printable(share.text), kNumberWidth + 4));
    }
    fmt::format_to(out, "what could be done:\n");
    for (const std::string &hint : explanation.hints) fmt::format_to(out, "  {}\n", folded(printable(hint), 2));
    return result;
}

std::string why_json(const Explanation &explanation) {
    const HeapSnapshot &heap = explanation.heap;
    JsonWriter json;
    json.begin_object();
    put_number(json, "process", static_cast<std::uint64_t>(explanation.process));
    put_text(json, "path", explanation.executable);
    put_text(json, "library", explanation.library);
    put_number(json, "resident_bytes", explanation.resident);
    put_number(json, "huge_bytes", explanation.huge);
    put_number(json, "breath_bytes", explanation.breath.bytes);
    put_number(json, "breath_seconds", explanation.breath.seconds);
    put_shares(json, explanation.shares);
    put_number(json, "live_blocks", heap.live_blocks);
    put_number(json, "superblocks", heap.superblocks);
    put_number(json, "global_superblocks", heap.global_superblocks);
    put_number(json, "heaps", heap.heaps);
    put_classes(json, heap.classes);
    json.key("hints");
    json.begin_array();
    for (const std::string &hint : explanation.hints) json.text(hint);
    json.end_array();
    json.end_object();
    return json.result() + "\n";
}

}  // namespace gr::tool
