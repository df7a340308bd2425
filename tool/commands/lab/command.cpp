// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: granary lab on the command line: its options, and what follows from them.
// Invariant: nothing is done before all options are parsed; the page's file is whole, or not there.
// Must not know: any other command.
#include "commands/lab/command.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/failure.hpp"
#include "base/output.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "command_line/command_line.hpp"
#include "commands/lab/lab_record.hpp"
#include "commands/lab/shown_lab.hpp"
#include "reading/allocators/chosen_allocator.hpp"
#include "reading/process/program.hpp"
#include "reporting/html/page.hpp"

namespace gr::tool {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char *kLabUsage = "granary lab [show [OPTIONS] NAME[,NAME...] SCRIPT|PROGRAM [ARGUMENT]...]";
constexpr const char *kShow = "show";
constexpr unsigned kCalls = 200;
constexpr unsigned kMostCalls = 100'000;
constexpr std::size_t kOperands = 2;  // in front of the script or program: show, NAME

struct LabRequest {
    std::string verb;
    std::string names;
    std::string script;
    std::vector<std::string> program;
    std::string page;    // empty: by the name of the script or program
    unsigned calls = 0;  // 0: not given
};

ExitCode list() {
    print(fmt::format("allocators that can be shown: {}\n", fmt::join(shown_allocators(), ", ")));
    for (const LabScript &script : lab_scripts()) {
        constexpr int kColumns = 24;
        print(fmt::format("script {:{}} {}\n", script.name, kColumns, script.about));
    }
    return ExitCode::success;
}

std::string title_of(const LabRequest &request) {
    if (!request.script.empty()) return fs::path(request.script).stem().string();
    return fmt::format("{}", fmt::join(request.program, " "));
}

std::string page_path(const LabRequest &request) {
    if (!request.page.empty()) return request.page;
    const std::string &word = request.script.empty() ? request.program.front() : request.script;
    return fs::path(word).stem().string() + ".html";
}

// view/src/lab/lab_document.ts reads it. What is no UTF-8, in a program's words or a script, becomes U+FFFD.
std::string document_of(const std::string &title, const std::vector<std::pair<std::string, std::string>> &records) {
    Json runs = Json::array();
    for (const auto &[name, record] : records) runs.push_back({{"name", name}, {"record", record}});
    const Json document = {{"version", 1}, {"title", title}, {"runs", std::move(runs)}};
    return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string record_of(const ShownAllocator &allocator, const LabRequest &request) {
    if (!request.script.empty()) return record_of_script(allocator, request.script);
    return record_of_program(allocator, request.program, request.calls == 0 ? kCalls : request.calls);
}

// Whatever is no script is taken for a program.
void check_program(const std::string &name) {
    try {
        static_cast<void>(find_program(name));
    } catch (const Failure &failure) {
        throw Failure(failure.code(), fmt::format("{}; 'granary lab' lists the scripts", failure.what()));
    }
}

void check(const LabRequest &request) {
    if (names_in(request.names).empty() || (request.script.empty() && request.program.empty())) {
        throw Failure(ExitCode::usage,
                      "an allocator and a script or program are needed; 'granary lab' lists what there is");
    }
    if (!request.script.empty() && request.calls != 0)
        throw Failure(ExitCode::usage, "--calls is for a program; a script is shown to its end");
}

ExitCode show(LabRequest &request) {
    check(request);
    std::vector<ShownAllocator> allocators;
    for (const std::string &name : names_in(request.names)) allocators.push_back(choose_shown(name));
    if (request.script.empty()) check_program(request.program.front());
    request.script = script_file(request.script).value_or(request.script);
    std::vector<std::pair<std::string, std::string>> records;
    records.reserve(allocators.size());
    for (const ShownAllocator &one : allocators) records.emplace_back(one.name, record_of(one, request));
    const std::string page = lab_page_of(document_of(title_of(request), records));
    const std::string path = page_path(request);
    write_whole(path, page);
    print(fmt::format("{}: {}\n", printable(path), bytes_text(page.size())));
    return ExitCode::success;
}

}  // namespace

void add_lab(CommandLine &line) {
    const auto request = std::make_shared<LabRequest>();
    Command &command = line.add("lab", "Show step by step what an allocator of the papers does", kLabUsage);
    CLI::App &options = *command.options;
    options.add_option("show", request->verb, "Write the page; without it: list the allocators and scripts")
        ->type_name("")
        ->check(CLI::IsMember({kShow}).description(""));
    options.add_option("NAME", request->names, "Allocators, side by side: NAME[:OPTION=VALUE],...")->type_name("");
    options
        .add_option("SCRIPT", request->script,
                    "A script of the lab, or a file with one; a program and its arguments may stand here instead")
        ->type_name("");
    options.add_option("-o,--output", request->page, "The page to write (default: SCRIPT.html or PROGRAM.html)")
        ->type_name("PAGE");
    options
        .add_option("--calls", request->calls,
                    fmt::format("With a program: how many of its first calls are shown (default: {})", kCalls))
        ->type_name("N")
        ->check(CLI::Range(1U, kMostCalls).description(""));
    options.footer(
        "The page is one HTML file that needs no network. A program runs once on each allocator.\n"
        "Exit status: 0; 1 if a script has a mistake or a program cannot be recorded; 125 if the lab is not built, "
        "the\n"
        "page cannot be written or granary itself fails; 126 or 127 if a program cannot be started or found; 2 if the\n"
        "command line is wrong.\n"
        "Example: granary lab show private,ptmalloc-like,hoard hoard_figure_1 -o figure.html");
    command.operands = kOperands;
    command.program = &request->program;
    command.is_program = [](const std::string &word) { return !script_file(word); };
    command.work = [request] { return request->verb.empty() ? list() : show(*request); };
}

}  // namespace gr::tool
