// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: granary record on the command line: its options, and what follows from them.
// Invariant: nothing is done before all options are parsed.
// Must not know: any other command.
#include "commands/record/command.hpp"

#include <fmt/format.h>

#include <memory>

#include "base/failure.hpp"
#include "command_line/command_line.hpp"
#include "command_line/whole_number.hpp"
#include "commands/record/record.hpp"
#include "commands/record/recorded_tree.hpp"
#include "reading/allocators/chosen_allocator.hpp"

namespace gr::tool {

namespace {

constexpr const char *kRecordUsage =
    "granary record [OPTIONS] [--] PROGRAM [ARGUMENT]... | granary record [OPTIONS] --pid PID";
constexpr std::uint64_t kStackBytes = 64 << 10;
constexpr std::uint32_t kStackCalls = 64;
constexpr std::uint32_t kTimedCalls = 1000;

struct Words {
    RecordRequest request;
    std::string stacks = "sampled";
    std::uint64_t stack_bytes = kStackBytes;
};

void declare_options(CLI::App &options, Words &words) {
    RecordRequest &request = words.request;
    request.settings.timed_calls = kTimedCalls;
    request.settings.stack_calls = kStackCalls;
    options.add_option("-o,--output", request.file, "The trace to write (default: granary.NAME.PID.trace)")
        ->type_name("FILE");
    options
        .add_option("--pid", request.process, "Record a process that runs already, until Ctrl-C; the process continues")
        ->type_name("PID")
        ->check(positive_whole_number());
    options.add_option("--seconds", request.seconds, "With --pid: end the recording after so many seconds")
        ->type_name("N");
    options
        .add_option("--stacks", words.stacks, "Record the call stack of no, some or all allocations (default: sampled)")
        ->type_name("none|sampled|all")
        ->check(CLI::IsMember({"none", "sampled", "all"}).description(""));
    options
        .add_option("--stack-bytes", words.stack_bytes,
                    "With sampled stacks: mean number of allocated bytes for each stack (default: 64K)")
        ->type_name("BYTES")
        ->transform(CLI::AsSizeValue(false).description(""));
    options
        .add_option("--timed", request.settings.timed_calls,
                    "Measure the time of one call in N; 0: of none (default: 1000)")
        ->type_name("N");
    options.add_flag("--lossy", request.settings.lossy,
                     "If the recorder is too slow, drop events and count them instead of making the program wait");
    options
        .add_option("--allocator", request.allocator,
                    fmt::format("Run the program on this allocator: {} (default: system)", kAllocatorNames))
        ->type_name("NAME|PATH.so");
    options
        .add_option("--only", request.only,
                    "Record only programs of this name (the file's, without folders); may be repeated")
        ->type_name("NAME")
        ->allow_extra_args(false);
    options.add_flag(
        "--keep-small", request.keeps_small,
        fmt::format("Of more than {} traces, keep also those of fewer than {} events", kManyTraces, kSmallTrace));
    options.add_flag("--embed-symbols", request.embeds_symbols,
                     "Write the names of functions into the trace when the program has ended, for other machines");
    options.add_flag("-q,--quiet", request.quiet, "Print only errors");
    options.footer(
        "Children of the program are recorded too, each in a trace of its own; at the end all are listed, the largest\n"
        "first. Ctrl-C goes to the program, and the trace is complete when the program has ended. A second Ctrl-C, or\n"
        "SIGTERM to granary, ends the recording; the program continues.\n"
        "With --pid the first Ctrl-C ends the recording. The trace begins with the calls from then on.\n"
        "Exit status: that of the program, or 128 + the number of the signal that ended it; 127 if the program is\n"
        "not found, 126 if it cannot be started, 125 if granary itself fails or the trace cannot be written, 1 if\n"
        "the program cannot be recorded, 2 if the command line is wrong.\n"
        "Examples: granary record -o gcc.trace --allocator jemalloc gcc -O2 -c file.c\n"
        "          granary record --pid 4711 --seconds 60 -o server.trace");
}

void check(const RecordRequest &request) {
    const bool is_running = request.process != 0;
    if (request.command.empty() && !is_running)
        throw Failure(ExitCode::usage, "no program given; see 'granary record --help'");
    if (!request.command.empty() && is_running)
        throw Failure(ExitCode::usage, "give either a program or --pid PID; see 'granary record --help'");
    if (request.seconds && !is_running) throw Failure(ExitCode::usage, "--seconds needs --pid PID");
    if (is_running && request.allocator != kSystemAllocator)
        throw Failure(ExitCode::usage, "--allocator is for a program that is started; a process keeps its allocator");
}

ExitCode record(Words &words) {
    RecordRequest &request = words.request;
    check(request);
    if (words.stacks == "all") request.settings.stack_bytes = 1;
    if (words.stacks == "sampled") {
        if (words.stack_bytes < 2)
            throw Failure(ExitCode::usage, "--stack-bytes must be at least 2; use --stacks all for every stack");
        request.settings.stack_bytes = words.stack_bytes;
    }
    return static_cast<ExitCode>(request.process == 0 ? record_program(request) : record_process(request));
}

}  // namespace

void add_record(CommandLine &line) {
    const auto words = std::make_shared<Words>();
    Command &command = line.add("record", "Record the allocations and frees of a program in a trace", kRecordUsage);
    declare_options(*command.options, *words);
    command.program = &words->request.command;
    command.work = [words] { return record(*words); };
}

}  // namespace gr::tool
