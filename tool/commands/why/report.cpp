// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/why/report.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <optional>

#include "base/text.hpp"
#include "commands/why/collector_text.hpp"

namespace gr::tool {

namespace {

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
        put_text(json, "of", share.owner == Owner::others ? "others" : "granary");
        if (!share.heap.empty()) put_text(json, "heap", share.heap);
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
        put_number(json, "free_bytes", amount(c.amounts, Part::free).bytes);
        put_number(json, "free_resident_bytes", whole(amount(c.amounts, Part::free).resident));
        json.end_object();
    }
    json.end_array();
}

void put_heap(JsonWriter &json, const HeapSnapshot &heap) {
    put_number(json, "live_blocks", heap.live_blocks);
    put_number(json, "superblocks", heap.superblocks);
    put_number(json, "global_superblocks", heap.global_superblocks);
    put_number(json, "heaps", heap.heaps);
    put_classes(json, heap.classes);
}

void put_amounts(JsonWriter &json, const HeapSnapshot &heap) {
    constexpr std::array kNames{"live", "waiting", "magazines", "remote", "free", "tails", "empty"};
    static_assert(kNames.size() == kParts, "each part has a name");
    json.key("parts");
    json.begin_object();
    for (std::size_t i = 0; i < kParts; ++i) {
        json.key(kNames[i]);
        json.begin_object();
        put_number(json, "bytes", heap.amounts[i].bytes);
        put_number(json, "resident_bytes", whole(heap.amounts[i].resident));
        json.end_object();
    }
    json.end_object();
}

void put_kinds(JsonWriter &json, std::span<const ExplainedHeap> heaps) {
    json.key("kinds");
    json.begin_array();
    for (const ExplainedHeap &heap : heaps) {
        if (!heap.kind) continue;
        json.begin_object();
        put_number(json, "number", heap.kind->number);
        put_text(json, "name", heap.name);
        put_text(json, "contents", contents_word(heap.kind->contents));
        put_text(json, "lifetime", lifetime_word(heap.kind->lifetime));
        put_number(json, "live_bytes", live_amount(heap.snapshot).bytes);
        put_number(json, "left_blocks", heap.kind->left_blocks);
        put_number(json, "left_bytes", heap.kind->left_bytes);
        put_amounts(json, heap.snapshot);
        put_heap(json, heap.snapshot);
        json.end_object();
    }
    json.end_array();
}

void put_flag(JsonWriter &json, std::string_view name, bool is_set) { put_number(json, name, is_set ? 1 : 0); }

void put_collector(JsonWriter &json, const Explanation &explanation) {
    const CollectorSnapshot &collector = *explanation.collector;
    const LastCollection &last = collector.last;
    json.key("collector");
    json.begin_object();
    put_number(json, "collections", last.number);
    if (last.number != 0) {
        put_text(json, "last_reason", reason_word(last.reason));
        put_number(json, "last_began_ns_ago", explanation.collector_age);
        put_number(json, "last_stopped_ns", last.stopped);
        put_number(json, "last_beside_ns", last.beside);
        put_number(json, "last_threads", last.threads);
        put_number(json, "last_freed_blocks", last.freed_blocks);
        put_number(json, "last_live_blocks", last.live_blocks);
        put_number(json, "last_live_bytes", last.live_bytes);
    }
    put_number(json, "held_bytes", explanation.held_bytes());
    put_number(json, "due_bytes", collector.due_bytes);
    put_number(json, "grown_bytes", explanation.grown_bytes());
    put_flag(json, "disabled", collector.is_disabled);
    put_flag(json, "automatic", collector.is_automatic && !is_for_leaks(explanation));
    put_flag(json, "beside", collector.is_beside);
    if (collector.waiting_due_bytes != 0) {
        put_number(json, "waiting_bytes", collector.waiting_bytes);
        put_number(json, "waiting_due_bytes", collector.waiting_due_bytes);
        put_number(json, "waiting_blocks", explanation.heaps.front().snapshot.waiting_blocks);
    }
    put_kinds(json, explanation.heaps);
    json.end_object();
}

// The heading above the first part of an owner, or nothing where one heap makes it unnecessary.
std::string_view heading(const Explanation &explanation, Owner owner) {
    const bool has_both = explanation.has_malloc() && !explanation.kinds().empty();
    switch (owner) {
        case Owner::malloc:
            return has_both ? "malloc:\n" : "";
        case Owner::collector:
            return has_both ? "collector:\n" : "";
        case Owner::granary:
            return has_both ? "malloc and collector:\n" : "";
        case Owner::others:
            break;
    }
    return "outside Granary:\n";
}

}  // namespace

std::string why_text(const Explanation &explanation) {
    const std::string huge =
        explanation.huge == 0 ? "" : fmt::format(", {} of it in huge pages", bytes_text(explanation.huge));
    const std::string lazy = explanation.lazy == 0 ? ""
                                                   : fmt::format(", {} that the kernel takes back first (LazyFree)",
                                                                 bytes_text(explanation.lazy));
    const std::string_view on = explanation.has_malloc() ? "Granary" : "Granary's collector";
    std::string result = fmt::format("RSS {}{}{}: process {} ({}) on {}\n", bytes_text(explanation.resident), huge,
                                     lazy, explanation.process, printable(explanation.executable), on);
    const auto out = std::back_inserter(result);
    constexpr std::size_t kNumberWidth = 11;
    std::optional<Owner> owner;
    for (const Share &share : explanation.shares) {
        if (share.resident == 0) continue;
        if (owner != share.owner) result += heading(explanation, share.owner);
        owner = share.owner;
        fmt::format_to(out, "  {:>{}}  {}\n", bytes_text(share.resident), kNumberWidth,
                       folded(printable(share.text), kNumberWidth + 4));
    }
    if (explanation.collector)
        fmt::format_to(out, "collections:\n  {}\n", folded(printable(collections_text(explanation)), 2));
    fmt::format_to(out, "what could be done:\n");
    for (const std::string &hint : explanation.hints) fmt::format_to(out, "  {}\n", folded(printable(hint), 2));
    return result;
}

std::string why_json(const Explanation &explanation) {
    JsonWriter json;
    json.begin_object();
    put_number(json, "process", static_cast<std::uint64_t>(explanation.process));
    put_text(json, "path", explanation.executable);
    put_text(json, "library", explanation.library);
    put_number(json, "resident_bytes", explanation.resident);
    put_number(json, "huge_bytes", explanation.huge);
    put_number(json, "lazy_bytes", explanation.lazy);
    put_number(json, "reuse_bytes", explanation.reuse.bytes);
    put_number(json, "reuse_seconds", explanation.reuse.seconds);
    put_shares(json, explanation.shares);
    for (const ExplainedHeap &heap : explanation.malloc()) put_heap(json, heap.snapshot);
    if (explanation.collector) put_collector(json, explanation);
    json.key("hints");
    json.begin_array();
    for (const std::string &hint : explanation.hints) json.text(hint);
    json.end_array();
    json.end_object();
    return json.result() + "\n";
}

}  // namespace gr::tool
