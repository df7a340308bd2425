// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: granary run on the command line: its options, and what follows from them.
// Invariant: nothing is done before all options are parsed.
// Must not know: any other command.
#include "commands/run/command.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <utility>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "command_line/command_line.hpp"
#include "commands/run/run.hpp"
#include "reading/allocators/chosen_allocator.hpp"

namespace gr::tool {

namespace {

constexpr const char *kRunUsage = "granary run [OPTIONS] [--] PROGRAM [ARGUMENT]...";

// Shows the flag that takes a value as the user writes it.
class RunFormatter : public UsageFormatter {
  public:
    using UsageFormatter::UsageFormatter;
    std::string make_option_name(const CLI::Option *option, bool positional) const override {
        std::string name = UsageFormatter::make_option_name(option, positional);
        const std::size_t brace = name.find('{');
        return brace == std::string::npos ? name : name.substr(0, brace) + kStatsValues;
    }

  private:
    static constexpr const char *kStatsValues = "[=text|json|prometheus]";
};

void declare_options(CLI::App &options, RunRequest &request) {
    options
        .add_flag("--stats{text}", request.stats,
                  "Print statistics of the heap to standard error when the program ends")
        ->type_name("")
        ->check(CLI::IsMember({"text", "json", "prometheus"}).description(""));
    options.add_flag("--gc", request.collector,
                     "For programs built for bdwgc: replace libgc.so.1 by Granary's; malloc stays as it is");
    options.add_flag("--gc-malloc", request.collecting_malloc, "Collect blocks of malloc that no pointer is left to");
    options.add_flag("--quarantine", request.quarantine,
                     "Reuse a freed block only when no pointer to it is left (GRANARY_QUARANTINE=on)");
    options.add_flag("--junk", request.junk, "Fill new and freed blocks with bytes that show bugs (GRANARY_JUNK=all)");
    options.add_flag("--no-rseq", request.no_rseq, "Do not use restartable sequences (GRANARY_RSEQ=off)");
    options.add_option("--set", request.settings, "Set the option GRANARY_NAME of the library; may be repeated")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
    options.add_option("--library", request.library, "Use this libgranary.so instead of the one beside the command")
        ->type_name("PATH");
    options
        .add_option("--allocator", request.allocator,
                    fmt::format("Run the program on another allocator: {} (default: granary)", kAllocatorNames))
        ->type_name("NAME|PATH.so");
    options.add_flag("-q,--quiet", request.quiet, "Do not warn when the program cannot run on Granary");
    options.footer(
        "Exit status: that of the program; 127 if the program is not found, 126 if it cannot be started,\n"
        "125 if granary itself fails, 2 if the command line is wrong.\n"
        "Example: granary run --stats --set RETAIN=1M python3 script.py");
}

// Refuses the options that only Granary's own libraries understand.
void check_options(const RunRequest &request) {
    const std::array<std::pair<const char *, bool>, 7> own{{{"--stats", !request.stats.empty()},
                                                            {"--gc", request.collector},
                                                            {"--gc-malloc", request.collecting_malloc},
                                                            {"--quarantine", request.quarantine},
                                                            {"--junk", request.junk},
                                                            {"--no-rseq", request.no_rseq},
                                                            {"--library", !request.library.empty()}}};
    for (const auto &[option, is_given] : own) {
        if (!is_given) continue;
        throw Failure(ExitCode::usage,
                      fmt::format("{} works with Granary only, not with --allocator {}; leave out one of them", option,
                                  in_quotes(request.allocator)));
    }
}

ExitCode run(RunRequest &request) {
    if (request.allocator == "granary") request.allocator.clear();
    if (!request.allocator.empty()) check_options(request);
    if (!request.command.empty()) run_program(request);
    throw Failure(ExitCode::usage, "no program given; see 'granary run --help'");
}

}  // namespace

void add_run(CommandLine &line) {
    const auto request = std::make_shared<RunRequest>();
    Command &command = line.add("run", "Run a program on Granary", kRunUsage);
    command.options->formatter(std::make_shared<RunFormatter>(kRunUsage));
    declare_options(*command.options, *request);
    command.program = &request->command;
    command.work = [request] { return run(*request); };
}

}  // namespace gr::tool
