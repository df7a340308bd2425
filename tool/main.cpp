// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the command granary: its commands, in the order of the help.
// Invariant: whatever goes wrong, there is one line on stderr and a code of ExitCode.
// Must not know: how a command does its work.
#include <fmt/format.h>
#include <granary/granary.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

#include "base/failure.hpp"
#include "base/output.hpp"
#include "command_line/command_line.hpp"
#include "commands/bench/command.hpp"
#include "commands/collections/command.hpp"
#include "commands/completion/command.hpp"
#include "commands/diff/command.hpp"
#include "commands/doctor/command.hpp"
#include "commands/export/command.hpp"
#include "commands/lab/command.hpp"
#include "commands/leaks/command.hpp"
#include "commands/options/command.hpp"
#include "commands/record/command.hpp"
#include "commands/replay/command.hpp"
#include "commands/report/command.hpp"
#include "commands/run/command.hpp"
#include "commands/summary/command.hpp"
#include "commands/symbolize/command.hpp"
#include "commands/top/command.hpp"
#include "commands/why/command.hpp"

namespace gr::tool {

namespace {

constexpr const char *kOutOfMemory = "granary: out of memory\n";

std::string version_text() {
    return fmt::format("granary {}.{}.{}\n", GR_VERSION_MAJOR, GR_VERSION_MINOR, GR_VERSION_PATCH);
}

void add_version(CommandLine &line) {
    line.add("version", "Print the version", "granary version").work = [] {
        print(version_text());
        return ExitCode::success;
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
    add_symbolize,
    add_replay,
    add_leaks,
    add_doctor,
    add_why,
    add_top,
    add_collections,
    add_options,
    add_bench,
    add_lab,
    add_completion,
    add_version,
});

std::terminate_handler otherwise = std::abort;

// Where nobody can catch it: in a thread, or in a destructor, where the JSON library allocates.
[[noreturn]] void end_without_memory() {
    try {
        if (const std::exception_ptr uncaught = std::current_exception()) std::rethrow_exception(uncaught);
    } catch (const std::bad_alloc &) {
        std::fputs(kOutOfMemory, stderr);
        std::_Exit(static_cast<int>(ExitCode::tool_failure));
    } catch (...) {
    }
    otherwise();
    std::abort();
}

}  // namespace

}  // namespace gr::tool

int main(int argc, char **argv) {
    gr::tool::otherwise = std::set_terminate(gr::tool::end_without_memory);
    try {
        return gr::tool::CommandLine(gr::tool::version_text())
            .run(gr::tool::kCommands, {argv, static_cast<std::size_t>(argc)});
    } catch (...) {  // not even the complaint could be made
        std::fputs(gr::tool::kOutOfMemory, stderr);
        return static_cast<int>(gr::tool::ExitCode::tool_failure);
    }
}
