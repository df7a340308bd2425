// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: granary replay on the command line: its options, and what follows from them.
// Invariant: allocators take turns, so that what disturbs the machine disturbs all of them alike.
// Must not know: any other command.
#include "commands/replay/command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/output.hpp"
#include "base/whole_file.hpp"
#include "command_line/command_line.hpp"
#include "commands/replay/comparison.hpp"
#include "commands/replay/document.hpp"
#include "commands/replay/performance.hpp"
#include "commands/replay/planner.hpp"
#include "reading/allocators/chosen_allocator.hpp"
#include "reporting/document/document_json.hpp"
#include "reporting/html/page.hpp"

namespace gr::tool {

namespace {

constexpr std::array<const char *, 3> kTouches = {"recorded", "all", "none"};

struct ReplayRequest {
    std::string file;
    std::string allocators = "system,granary";
    std::string touch = kTouches[0];
    std::string page;  // empty: none is written
    unsigned rounds = 3;
    bool json = false;
    bool quiet = false;
};

void show_progress(const ReplayRequest &request, unsigned round, const std::string &name) {
    if (request.quiet || ::isatty(STDERR_FILENO) == 0) return;
    fmt::print(stderr, "\r\033[Kround {} of {}: {}", round + 1, request.rounds, name);
    std::fflush(stderr);
}

ExitCode replay(const ReplayRequest &request) {
    std::vector<gr::tool::AllocatorRounds> results;
    for (const std::string &name : names_in(request.allocators)) results.push_back({choose_allocator(name), {}});
    if (results.empty()) throw Failure(ExitCode::usage, "--with names no allocator; see 'granary replay --help'");
    const trace::Trace trace(request.file);
    if (!trace.damage().empty()) complain(trace.damage());
    const auto touch = static_cast<gr::tool::Touch>(std::ranges::find(kTouches, request.touch) - kTouches.begin());
    gr::tool::Plan plan;
    gr::tool::plan(trace, touch, &plan);
    for (unsigned round = 0; round < request.rounds; ++round) {
        for (gr::tool::AllocatorRounds &one : results) {
            show_progress(request, round, one.allocator.name);
            one.rounds.push_back(gr::tool::perform(plan.file, one.allocator));
        }
    }
    if (!request.quiet && ::isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\033[K");
    if (!request.page.empty()) {
        write_whole(request.page, page_of(to_json(document_of(trace, plan, results))));
    }
    print(request.json ? comparison_json(trace, plan, results) : comparison_text(trace, plan, results));
    return ExitCode::success;
}

}  // namespace

void add_replay(CommandLine &line) {
    const auto request = std::make_shared<ReplayRequest>();
    Command &command =
        line.add("replay", "Repeat a recorded program's calls on other allocators and compare time and memory",
                 "granary replay [OPTIONS] TRACE");
    CLI::App &options = *command.options;
    options.add_option("TRACE", request->file, "A trace, written by granary record")->required()->type_name("");
    options
        .add_option("--with", request->allocators,
                    fmt::format("The allocators to compare: {} (default: system,granary)", kAllocatorNames))
        ->type_name("NAME|PATH.so,...");
    options
        .add_option("--touch", request->touch,
                    "Pages of the blocks to write to: recorded, all or none (default: recorded)")
        ->type_name("recorded|all|none")
        ->check(CLI::IsMember(std::vector<std::string>(kTouches.begin(), kTouches.end())).description(""));
    options.add_option("--rounds", request->rounds, "How often each allocator runs, in turn (default: 3)")
        ->type_name("NUMBER")
        ->check(CLI::Range(1, 1000).description(""));
    options.add_option("-o,--output", request->page, "Also write the comparison as an HTML page")->type_name("PAGE");
    options.add_flag("--json", request->json, "Print JSON");
    options.add_flag("-q,--quiet", request->quiet, "Do not show progress");
    options.footer(
        "Exit status: 0; 1 if the trace cannot be read or replayed; 125 if a replaying process dies or granary\n"
        "itself fails; 2 if the command line is wrong.\n"
        "Example: granary replay --with system,granary,jemalloc,./libmine.so git.trace");
    command.work = [request] { return replay(*request); };
}

}  // namespace gr::tool
