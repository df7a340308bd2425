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
#include "bench/command.hpp"
#include "collections/command.hpp"
#include "command_line/command_line.hpp"
#include "completion/command.hpp"
#include "diff/command.hpp"
#include "doctor/command.hpp"
#include "export/command.hpp"
#include "lab/command.hpp"
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

constexpr const char *kOutOfMemory = "granary: out of memory\n";

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
        std::_Exit(static_cast<int>(ExitCode::kToolFailure));
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
        return static_cast<int>(gr::tool::ExitCode::kToolFailure);
    }
}
