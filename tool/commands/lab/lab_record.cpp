// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/lab/lab_record.hpp"

#include <fmt/format.h>
#include <string.h>
#include <sys/wait.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/failure.hpp"
#include "base/file_text.hpp"
#include "base/output.hpp"
#include "base/temporary_folder.hpp"
#include "base/text.hpp"
#include "base/variables.hpp"
#include "reading/allocators/lab_options.hpp"
#include "reading/allocators/loader_path.hpp"
#include "reading/process/ended_program.hpp"

namespace gr::tool {

namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

constexpr const char *kPreload = "LD_PRELOAD";
constexpr std::ptrdiff_t kLeastLines = 2;  // the head and a step

bool has_step(const std::string &record) { return std::ranges::count(record, '\n') >= kLeastLines; }

// The first line of the stage's errors without the stage's name.
std::string first_line(const std::string &text) {
    constexpr std::string_view kStage = "granary-lab-stage: ";
    const std::string line = printable(text.substr(0, text.find('\n')));
    return line.starts_with(kStage) ? line.substr(kStage.size()) : line;
}

std::string end_words(int status) {
    return WIFSIGNALED(status) ? fmt::format("ended by {}", ::strsignal(WTERMSIG(status)))
                               : fmt::format("ended with status {}", WEXITSTATUS(status));
}

// A script's mistake is told as the stage tells it; what the allocator said is told with the stage's end.
std::string complaint_of(const EndedProgram &stage) {
    const std::string told = first_line(stage.errors);
    if (!WIFSIGNALED(stage.status) && !told.empty()) return told;
    return fmt::format("the stage {}{}{}", end_words(stage.status), told.empty() ? "" : ": ", told);
}

Variables variables_of(const ShownAllocator &allocator) {
    if (allocator.options.empty()) return {};
    return {{kLabVariable, allocator.options}};
}

}  // namespace

std::string record_of_script(const ShownAllocator &allocator, const std::string &script) {
    const TemporaryFolder folder("lab");
    const std::string file = folder.path() + "/record.jsonl";
    const EndedProgram stage =
        run_to_end({stage_program(), "--library", allocator.library, "--script", script, "--output", file},
                   variables_of(allocator), StandardError::kept);
    if (stage.status != 0)
        throw Failure(ExitCode::not_runnable, fmt::format("{}: {}", allocator.name, complaint_of(stage)));
    std::string record = file_text(file);
    if (!has_step(record)) {
        throw Failure(ExitCode::not_runnable,
                      fmt::format("{}: the script {} makes no step; give a thread a call, as in "
                                  "'1: a = malloc 64'",
                                  allocator.name, in_quotes(script)));
    }
    return record;
}

std::string record_of_program(const ShownAllocator &allocator, const std::vector<std::string> &command,
                              unsigned calls) {
    const TemporaryFolder folder("lab");
    const std::string file = folder.path() + "/record.jsonl";
    Variables variables = variables_of(allocator);
    const std::string kept = variable(kPreload).value_or("");
    const std::string library = preload_path(allocator.library);
    variables.emplace_back(kPreload, kept.empty() ? library : fmt::format("{}:{}", library, kept));
    variables.emplace_back("GRANARY_LAB_SHOW", file);
    variables.emplace_back("GRANARY_LAB_SHOW_CALLS", std::to_string(calls));
    const EndedProgram program = run_to_end(command, variables, StandardError::inherited);
    std::string record = file_text(file);
    record.resize(record.rfind('\n') + 1);  // a program that is killed may leave a part of a line
    const std::string end =
        fmt::format("{}: {} {}", allocator.name, in_quotes(command.front()), end_words(program.status));
    if (!has_step(record)) {
        constexpr const char *kWhy = "; a program must be dynamically linked: 'granary doctor' says whether it is";
        throw Failure(ExitCode::not_runnable,
                      fmt::format("{} and left no step{}", end, WIFSIGNALED(program.status) ? "" : kWhy));
    }
    if (WIFSIGNALED(program.status)) complain(fmt::format("lab: {}; the page shows the steps until then", end));
    return record;
}

}  // namespace gr::tool
