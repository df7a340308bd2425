// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: granary leaks on the command line: its options, and what follows from them.
// Invariant: nothing is done before all options are parsed.
// Must not know: any other command.
#include "commands/leaks/command.hpp"

#include <memory>

#include "base/failure.hpp"
#include "command_line/command_line.hpp"
#include "command_line/naming_options.hpp"
#include "command_line/whole_number.hpp"
#include "commands/leaks/find_leaks.hpp"

namespace gr::tool {

namespace {

void declare_options(CLI::App &options, LeaksRequest &request) {
    options.add_option("--pid", request.process, "Report the leaks so far of a process that granary leaks started")
        ->type_name("PID")
        ->check(positive_whole_number());
    options
        .add_option("--suppressions", request.suppressions,
                    "Leave out the known leaks that this file lists; may be repeated")
        ->type_name("FILE")
        ->allow_extra_args(false);
    options.add_flag("--json", request.json, "Print JSON");
    add_whole_names(options, &request.whole_names);
    options.add_option("--output", request.output, "Write to this file instead of standard error")->type_name("FILE");
    options.add_option("--exit-code", request.exit_code, "Exit status if something leaked (default: 23)")
        ->type_name("NUMBER")
        ->check(CLI::Range(0, 255).description(""));
    options.add_option("--library", request.library, "Use the libraries beside this libgranary.so")->type_name("PATH");
    options.footer(
        "Exit status: 23 if something leaked, else that of the program, or 128 + the number of the signal that\n"
        "ended it; 127 if the program is not found, 126 if it cannot be started, 125 if granary itself fails,\n"
        "2 if the command line is wrong, if the program cannot be watched (static, set-uid, or with a malloc of its\n"
        "own), or if a limit on addresses or data leaves no room to look for leaks.\n"
        "Example: granary leaks --suppressions known.txt git log");
}

ExitCode leaks(const LeaksRequest &request) {
    if (request.command.empty() == request.process.has_value()) return static_cast<ExitCode>(find_leaks(request));
    throw Failure(ExitCode::usage, "give either a program or --pid PID; see 'granary leaks --help'");
}

}  // namespace

void add_leaks(CommandLine &line) {
    const auto request = std::make_shared<LeaksRequest>();
    Command &command =
        line.add("leaks", "Run a program and show which blocks it leaked",
                 "granary leaks [OPTIONS] [--] PROGRAM [ARGUMENT]... | granary leaks [OPTIONS] --pid PID");
    declare_options(*command.options, *request);
    command.program = &request->command;
    command.work = [request] { return leaks(*request); };
}

}  // namespace gr::tool
