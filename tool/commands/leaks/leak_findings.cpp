// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/leaks/leak_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/text.hpp"
#include "reading/symbols/brief_names.hpp"
#include "reading/symbols/function_name.hpp"

namespace gr::tool {

namespace {

std::string blocks_text(std::uint64_t blocks, std::uint64_t bytes) {
    return fmt::format("{} block{}, {}", blocks, blocks == 1 ? "" : "s", bytes_text(bytes));
}

std::string place_text(const CodePlace &place, const BriefNames &names) {
    const std::string name = names.name_of(place.function);
    std::string text = name.empty() ? fmt::format("{:#x}", place.address) : printable(name);
    if (!place.file.empty()) {
        text += fmt::format("  {}:{}", printable(place.file), place.line);
    } else if (!place.module.empty()) {
        text += fmt::format("  ({})", printable(place.module));
    }
    return text;
}

void add_process_text(std::string &text, const ProcessFindings &found, const BriefNames &names) {
    const LeakReport &report = found.report;
    text += fmt::format("process {} ({}): ", report.process, printable(report.command));
    if (!report.failure.empty()) {
        text += fmt::format("not examined: {}\n", printable(report.failure));
        return;
    }
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;
    std::uint64_t direct = 0;
    for (const FoundLeak &leak : found.leaks) {
        blocks += leak.group.blocks;
        bytes += leak.group.bytes;
        if (leak.group.direct) direct += leak.group.blocks;
    }
    text += found.leaks.empty() ? "no leaks" : fmt::format("{} leaked", blocks_text(blocks, bytes));
    if (blocks != direct) text += fmt::format(" ({} directly, {} only reachable from these)", direct, blocks - direct);
    if (found.suppressed_blocks != 0)
        text += fmt::format("; suppressed: {}", blocks_text(found.suppressed_blocks, found.suppressed_bytes));
    text += '\n';
    for (const FoundLeak &leak : found.leaks) {
        text += fmt::format("\n  {}: {}\n", leak.group.direct ? "direct" : "indirect",
                            blocks_text(leak.group.blocks, leak.group.bytes));
        if (leak.stack.empty()) text += "    the call stack is not known\n";
        for (const CodePlace &place : leak.stack) text += fmt::format("    {}\n", place_text(place, names));
    }
}

void add_place_json(JsonWriter &json, const CodePlace &place) {
    json.begin_object();
    json.key("address");
    json.text(fmt::format("{:#x}", place.address));
    json.key("function");
    json.text(place.function);
    json.key("file");
    json.text(place.file);
    json.key("line");
    json.number(static_cast<std::uint64_t>(place.line));
    json.key("module");
    json.text(place.module);
    json.end_object();
}

void add_leak_json(JsonWriter &json, const FoundLeak &leak) {
    json.begin_object();
    json.key("kind");
    json.text(leak.group.direct ? "direct" : "indirect");
    json.key("blocks");
    json.number(leak.group.blocks);
    json.key("bytes");
    json.number(leak.group.bytes);
    json.key("stack");
    json.begin_array();
    for (const CodePlace &place : leak.stack) add_place_json(json, place);
    json.end_array();
    json.end_object();
}

void add_process_json(JsonWriter &json, const ProcessFindings &found) {
    json.begin_object();
    json.key("process");
    json.number(found.report.process);
    json.key("command");
    json.text(found.report.command);
    json.key("failure");
    json.text(found.report.failure);
    json.key("live_blocks");
    json.number(found.report.live_blocks);
    json.key("live_bytes");
    json.number(found.report.live_bytes);
    json.key("suppressed_blocks");
    json.number(found.suppressed_blocks);
    json.key("suppressed_bytes");
    json.number(found.suppressed_bytes);
    json.key("leaks");
    json.begin_array();
    for (const FoundLeak &leak : found.leaks) add_leak_json(json, leak);
    json.end_array();
    json.end_object();
}

// Names stacks by the files that were loaded when they were taken.
class StackNames {
  public:
    explicit StackNames(const LeakReport &report) : report_(report), loaded_(report.modules) {}

    std::vector<CodePlace> of(std::uint32_t number) {
        std::vector<CodePlace> stack;
        const auto found = report_.stacks.find(number);
        if (found == report_.stacks.end()) return stack;
        for (const std::uint64_t address : found->second.calls) {
            const std::vector<CodePlace> &calls = places(address, found->second.ordinal).all_of_call(address);
            stack.insert(stack.end(), calls.rbegin(), calls.rend());
        }
        for (CodePlace &place : stack) place.function = demangled(place.function);
        return stack;
    }

  private:
    // Of the files that lay there one after the other: the first that was unloaded after the stack was taken.
    CodePlaces &places(std::uint64_t address, std::uint32_t ordinal) {
        const UnloadedModule *first = nullptr;
        for (const UnloadedModule &one : report_.unloaded) {
            const bool is_there = one.module.begin < address && address <= one.module.end && one.last >= ordinal;
            if (is_there && (first == nullptr || one.last < first->last)) first = &one;
        }
        if (first == nullptr) return loaded_;
        return unloaded_.try_emplace(first, std::vector{first->module}).first->second;
    }

    const LeakReport &report_;
    CodePlaces loaded_;
    std::map<const UnloadedModule *, CodePlaces> unloaded_;
};

bool is_same_place(const CodePlace &one, const CodePlace &other) {
    return std::tie(one.module, one.function, one.file, one.line) ==
               std::tie(other.module, other.function, other.file, other.line) &&
           (!one.function.empty() || one.address == other.address);
}

// A library that was loaded twice has the stacks of its calls twice.
void add_repeated(std::vector<FoundLeak> &leaks, FoundLeak leak) {
    const auto same = std::ranges::find_if(leaks, [&](const FoundLeak &known) {
        return !leak.stack.empty() && known.group.direct == leak.group.direct &&
               std::ranges::equal(known.stack, leak.stack, is_same_place);
    });
    if (same == leaks.end()) return leaks.push_back(std::move(leak));
    same->group.blocks += leak.group.blocks;
    same->group.bytes += leak.group.bytes;
}

}  // namespace

ProcessFindings find_places(LeakReport report, const Suppressions &suppressions) {
    ProcessFindings found;
    StackNames names(report);
    const auto is_suppressed = [&](std::uint32_t number) {
        const std::vector<CodePlace> stack = names.of(number);
        return std::ranges::any_of(stack, [&](const CodePlace &place) {
            return suppressions.fit(place.function) || suppressions.fit(place.file) || suppressions.fit(place.module);
        });
    };
    for (const LeakGroup &group : report.leaks) {
        if (is_suppressed(group.stack) || is_suppressed(group.owner)) {
            found.suppressed_blocks += group.blocks;
            found.suppressed_bytes += group.bytes;
        } else if (report.unloaded.empty()) {
            found.leaks.push_back({group, names.of(group.stack)});
        } else {
            add_repeated(found.leaks, {group, names.of(group.stack)});
        }
    }
    std::ranges::stable_sort(found.leaks, {},
                             [](const FoundLeak &leak) { return std::tuple(!leak.group.direct, ~leak.group.bytes); });
    found.report = std::move(report);
    return found;
}

std::string leaks_text(const std::vector<ProcessFindings> &processes, bool has_whole_names) {
    BriefNames names;  // without any, all names are whole
    for (const ProcessFindings &found : processes) {
        for (const FoundLeak &leak : found.leaks) {
            for (const CodePlace &place : leak.stack) {
                if (!has_whole_names) names.add(place.function);
            }
        }
    }
    std::string text;
    for (const ProcessFindings &found : processes) add_process_text(text, found, names);
    return text;
}

std::string leaks_json(const std::vector<ProcessFindings> &processes) {
    JsonWriter json;
    json.begin_object();
    json.key("processes");
    json.begin_array();
    for (const ProcessFindings &found : processes) add_process_json(json, found);
    json.end_array();
    json.end_object();
    return json.result() + "\n";
}

}  // namespace gr::tool
