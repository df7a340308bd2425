// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: granary export on the command line: its options, and what follows from them.
// Invariant: nothing is done before all options are parsed; the file is whole, or not there.
// Must not know: any other command.
#include "commands/export/command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <string>

#include "base/failure.hpp"
#include "base/output.hpp"
#include "command_line/command_line.hpp"
#include "commands/export/arrow.hpp"
#include "commands/export/folded.hpp"
#include "commands/export/heaptrack.hpp"
#include "commands/export/perfetto.hpp"
#include "commands/export/pprof.hpp"
#include "commands/export/request.hpp"
#include "commands/export/sink.hpp"
#include "reading/symbols/calls.hpp"
#include "reading/trace/reader.hpp"
#include "reporting/charts/unread_files.hpp"

namespace gr::tool {

namespace {

enum class Format : std::uint8_t { pprof, folded, heaptrack, arrow, perfetto };

struct ExportRequest {
    std::string trace;
    std::string file = "-";
    std::map<Format, bool> chosen;
    Moment moment = Moment::peak;
    bool moment_is_given = false;
    bool blocks = false;
    bool mapped = false;
};

Format format_of(const ExportRequest &request) {
    for (const auto &[format, is_chosen] : request.chosen) {
        if (is_chosen) return format;
    }
    throw Failure(ExitCode::usage, "no format given; see 'granary export --help'");
}

void refuse_what_does_not_fit(const ExportRequest &request, Format format) {
    if (request.moment_is_given && format != Format::pprof && format != Format::folded)
        throw Failure(ExitCode::usage,
                      "--what works with --pprof and --folded only: the other formats cover the whole run");
    if (request.moment == Moment::total && format == Format::pprof)
        throw Failure(ExitCode::usage, "--what total works with --folded only: --pprof always contains the total");
    if (request.blocks && format != Format::folded) throw Failure(ExitCode::usage, "--blocks works with --folded only");
    if (request.mapped && format != Format::folded && format != Format::arrow)
        throw Failure(ExitCode::usage,
                      format == Format::heaptrack
                          ? "--mapped works with --folded and --arrow only: heaptrack knows no mappings"
                          : "--mapped works with --folded and --arrow only: --pprof and --perfetto "
                            "always contain what was mapped");
    const bool is_heaptracks = request.file == "-" || request.file.ends_with(".gz") || request.file.ends_with(".zst");
    if (format == Format::heaptrack && !is_heaptracks)
        throw Failure(ExitCode::usage, "heaptrack opens only files whose names end in .gz or .zst");
    if (request.file == "-" && format != Format::folded && ::isatty(STDOUT_FILENO) != 0)
        throw Failure(ExitCode::usage, "this format is binary and not for a terminal; name a file with -o");
}

Compression compression_of(const ExportRequest &request, Format format) {
    if (format == Format::pprof) return Compression::gzip;
    if (format != Format::heaptrack) return Compression::none;
    return request.file.ends_with(".zst") ? Compression::zstd : Compression::gzip;
}

ExitCode run_export(const ExportRequest &request) {
    const Format format = format_of(request);
    refuse_what_does_not_fit(request, format);
    const trace::Trace trace(request.trace);
    if (!trace.damage().empty()) complain(trace.damage());
    Calls calls(trace);
    const std::unique_ptr<Sink> sink = sink_to(request.file, compression_of(request, format));
    switch (format) {
        case Format::pprof:
            write_pprof(trace, calls, request.moment, *sink);
            break;
        case Format::folded:
            write_folded(trace, calls, {request.moment, request.blocks, request.mapped}, *sink);
            break;
        case Format::heaptrack:
            write_heaptrack(trace, calls, *sink);
            break;
        case Format::arrow:
            write_arrow(trace, calls, request.mapped, *sink);
            break;
        case Format::perfetto:
            write_perfetto(trace, *sink);
            break;
    }
    sink->finish();
    if (const std::string note = unread_note(calls.unread()); !note.empty()) complain(note);
    return ExitCode::success;
}

void declare_options(CLI::App &options, ExportRequest &request) {
    options.add_option("TRACE", request.trace, "A trace, written by granary record")->required()->type_name("");
    CLI::Option_group &formats = *options.add_option_group("Formats");
    const auto add = [&](const char *name, Format format, const char *text) {
        formats.add_flag(name, request.chosen[format], text);
    };
    add("--pprof", Format::pprof, "For pprof: allocated memory and memory in use, by call stack");
    add("--folded", Format::folded, "Folded stacks, for flame graph tools");
    add("--heaptrack", Format::heaptrack, "For heaptrack_gui: every call");
    add("--arrow", Format::arrow, "A table in the format of Apache Arrow: every event");
    add("--perfetto", Format::perfetto, "For ui.perfetto.dev: counters, marks, large allocations");
    formats.require_option(1);
    options
        .add_option("-o,--output", request.file,
                    "The file to write; for heaptrack .zst in its name chooses zstd (default: standard output)")
        ->type_name("FILE");
    options
        .add_option_function<std::string>(
            "--what",
            [&request](const std::string &word) {
                request.moment = word == "end" ? Moment::end : word == "total" ? Moment::total : Moment::peak;
                request.moment_is_given = true;
            },
            "Memory in use at the peak or at the end, or all allocated memory (default: peak)")
        ->type_name("peak|end|total")
        ->check(CLI::IsMember({"peak", "end", "total"}).description(""));
    options.add_flag("--blocks", request.blocks, "Count blocks instead of bytes");
    options.add_flag(
        "--mapped", request.mapped,
        "Memory that the program or a library mapped without malloc: with --folded instead of blocks, with "
        "--arrow the calls beside all others");
    options.footer(
        "Exit status: 0; 1 if the file is not a readable trace; 125 if the export cannot be written or granary\n"
        "itself fails; 2 if the command line is wrong.\n"
        "Example: granary export gcc.trace --pprof -o gcc.pb.gz && go tool pprof -http=: gcc.pb.gz");
}

}  // namespace

void add_export(CommandLine &line) {
    const auto request = std::make_shared<ExportRequest>();
    Command &command = line.add("export", "Write a trace in the format of another tool",
                                "granary export TRACE --pprof|--folded|--heaptrack|--arrow|--perfetto [OPTIONS]");
    declare_options(*command.options, *request);
    command.work = [request] { return run_export(*request); };
}

}  // namespace gr::tool
