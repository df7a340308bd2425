// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/leaks/leak_report.hpp"

#include <fmt/format.h>
#include <granary/wire/leaks.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/failure.hpp"
#include "base/text.hpp"

namespace gr::tool {

namespace {

std::string rest_of(std::istringstream &words) {
    std::string rest;
    std::getline(words >> std::ws, rest);
    return rest;
}

void read_leak(std::istringstream &words, LeakReport &report) {
    std::string kind;
    LeakGroup group;
    words >> kind >> group.blocks >> group.bytes >> group.stack >> group.owner;
    group.direct = kind == "direct";
    report.leaks.push_back(group);
}

void read_stack(std::istringstream &words, LeakReport &report) {
    std::uint32_t number = 0;
    LeakStack stack;
    words >> number >> stack.ordinal >> std::hex;
    for (std::uint64_t call = 0; words >> call;) stack.calls.push_back(call);
    words.clear();
    report.stacks[number] = std::move(stack);
}

CodeModule module_of(std::istringstream &words) {
    CodeModule module;
    words >> std::hex >> module.base >> module.begin >> module.end >> module.build_id;
    module.file = rest_of(words);
    if (module.build_id == "-") module.build_id.clear();
    return module;
}

void read_unloaded(std::istringstream &words, LeakReport &report) {
    UnloadedModule unloaded;
    words >> unloaded.last;
    unloaded.module = module_of(words);
    report.unloaded.push_back(std::move(unloaded));
}

}  // namespace

LeakReport read_leak_report(const std::string &path) {
    const auto broken = [&] {
        return Failure(ExitCode::tool_failure, fmt::format("{} is not a leak report that this command can read; "
                                                           "use the library that came with this granary",
                                                           in_quotes(path)));
    };
    // A program can put there what it likes: a pipe would be waited for.
    if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(path))) throw broken();
    std::ifstream file(path);
    LeakReport report;
    int version = 0;
    bool ended = false;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string what;
        words >> what;
        if (what == "granary-leaks") words >> version;
        if (what == "process") {
            words >> report.process;
            report.command = rest_of(words);
        }
        if (what == "failed") report.failure = rest_of(words);
        if (what == "live") words >> report.live_blocks >> report.live_bytes;
        if (what == "leak") read_leak(words, report);
        if (what == "stack") read_stack(words, report);
        if (what == "module") report.modules.push_back(module_of(words));
        if (what == "unloaded") read_unloaded(words, report);
        ended = what == "end";
        if (words.fail()) throw broken();
    }
    if (version != GR_LEAKS_VERSION || !ended) throw broken();
    return report;
}

}  // namespace gr::tool
