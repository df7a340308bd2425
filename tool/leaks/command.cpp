// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      granary leaks on the command line: its options, and what follows from them.
// Invariant: nothing is done before all options are parsed.
// Must not know: any other command.
#include "leaks/command.hpp"

#include <memory>

#include "base/failure.hpp"
#include "command_line/command_line.hpp"
#include "leaks/leaks.hpp"

namespace gr::tool {

namespace {

void declare_options(CLI::App &options, LeaksRequest &request) {
    options.add_option("--pid", request.process, "Ask a process that runs under granary leaks, now")
        ->type_name("PID")
        ->check(CLI::PositiveNumber.description(""));
    options.add_option("--suppressions", request.suppressions, "Leave out what this file names; may be repeated")
        ->type_name("FILE")
        ->allow_extra_args(false);
    options.add_flag("--json", request.json, "As JSON");
    options.add_option("--output", request.output, "Write there, not to standard error")->type_name("FILE");
    options.add_option("--exit-code", request.exit_code, "The status where something leaked, instead of 23")
        ->type_name("NUMBER")
        ->check(CLI::Range(0, 255).description(""));
    options.add_option("--library", request.library, "Use what lies beside this libgranary.so")->type_name("PATH");
    options.footer(
        "Exit status: 23 when something leaked; else the program's own, or 128 and its signal. 127 when it is\n"
        "not found, 126 when it cannot be started, 125 when granary itself fails, 2 for a wrong command line.\n"
        "Example: granary leaks --suppressions known.txt git log");
}

ExitCode leaks(const LeaksRequest &request) {
    if (request.command.empty() == request.process.has_value()) return static_cast<ExitCode>(find_leaks(request));
    throw Failure(ExitCode::kUsage, "give either a program or --pid PID; see 'granary leaks --help'");
}

}  // namespace

void add_leaks(CommandLine &line) {
    const auto request = std::make_shared<LeaksRequest>();
    Command &command =
        line.add("leaks", "Run a program and tell what it allocated and lost",
                 "granary leaks [OPTIONS] [--] PROGRAM [ARGUMENT]... | granary leaks [OPTIONS] --pid PID");
    declare_options(*command.options, *request);
    command.program = &request->command;
    command.work = [request] { return leaks(*request); };
}

}  // namespace gr::tool
