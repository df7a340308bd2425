// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      the command granary: its commands, in the order of the help.
// Invariant: whatever goes wrong, there is one line on stderr and a code of ExitCode.
// Must not know: how a command does its work.
#include <fmt/format.h>
#include <granary/granary.h>

#include <array>
#include <cstdio>

#include "base/failure.hpp"
#include "base/output.hpp"
#include "bench/command.hpp"
#include "collections/command.hpp"
#include "command_line/command_line.hpp"
#include "diff/command.hpp"
#include "doctor/command.hpp"
#include "export/command.hpp"
#include "leaks/command.hpp"
#include "options/command.hpp"
#include "record/command.hpp"
#include "replay/command.hpp"
#include "report/command.hpp"
#include "run/command.hpp"
#include "summary/command.hpp"
#include "top/command.hpp"
#include "why/command.hpp"

namespace gr::tool {

namespace {

std::string version_text() {
    return fmt::format("granary {}.{}.{}\n", GR_VERSION_MAJOR, GR_VERSION_MINOR, GR_VERSION_PATCH);
}

void add_version(CommandLine &line) {
    line.add("version", "Print the version", "granary version").work = [] {
        print(version_text());
        return ExitCode::kSuccess;
    };
}

// In the order of the help.
constexpr auto kCommands = std::to_array<CommandLine::Adder>({
    add_run,
    add_record,
    add_summary,
    add_report,
    add_diff,
    add_export,
    add_replay,
    add_leaks,
    add_doctor,
    add_why,
    add_top,
    add_collections,
    add_options,
    add_bench,
    add_version,
});

}  // namespace

}  // namespace gr::tool

int main(int argc, char **argv) {
    try {
        return gr::tool::CommandLine(gr::tool::version_text())
            .run(gr::tool::kCommands, {argv, static_cast<std::size_t>(argc)});
    } catch (...) {  // not even the complaint could be made
        std::fputs("granary: out of memory\n", stderr);
        return static_cast<int>(gr::tool::ExitCode::kToolFailure);
    }
}
