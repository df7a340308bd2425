// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: granary symbolize on the command line: its options, and what follows from them.
// Invariant: nothing is done before all options are parsed; a file without names is told once.
// Must not know: any other command.
#include "commands/symbolize/command.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "base/failure.hpp"
#include "base/output.hpp"
#include "base/text.hpp"
#include "command_line/command_line.hpp"
#include "reading/symbols/embedding.hpp"

namespace gr::tool {

namespace {

struct SymbolizeRequest {
    std::string trace;
    std::string file;  // "": the trace itself
    FileSearch search;
    bool quiet = false;
};

std::string without_names(const std::string &path, FileState state) {
    return fmt::format("{}; say with --sysroot, --debug or --debuginfod where the file is that was recorded",
                       unread_text(path, state));
}

ExitCode symbolize(const SymbolizeRequest &request) {
    const trace::Trace trace(request.trace);
    const std::string &file = request.file.empty() ? request.trace : request.file;
    if (!trace.damage().empty()) complain(trace.damage());
    const Embedded embedded = embed_names(trace, request.search, file);
    for (const auto &[path, state] : embedded.unread) complain(without_names(path, state));
    if (request.quiet) return ExitCode::success;
    print(
        fmt::format("{}: {} of {} places in the code have names\n", printable(file), embedded.named, embedded.places));
    return ExitCode::success;
}

void declare_options(CLI::App &options, SymbolizeRequest &request) {
    options.add_option("TRACE", request.trace, "A trace, written by granary record")->required()->type_name("");
    options.add_option("-o,--output", request.file, "The file to write (default: the trace itself)")->type_name("FILE");
    options
        .add_option("--debug", request.search.folders,
                    "Look for files and for debug information in this folder, too, laid out as below /usr/lib/debug "
                    "or flat; may be repeated")
        ->type_name("DIR")
        ->check(CLI::ExistingDirectory.description(""))
        ->allow_extra_args(false);
    options
        .add_option("--sysroot", request.search.sysroot,
                    "Look for files below this folder in place of /: a copy of the files of another machine")
        ->type_name("DIR")
        ->check(CLI::ExistingDirectory.description(""));
    options.add_flag("--debuginfod", request.search.asks_servers,
                     "Ask the servers that DEBUGINFOD_URLS names for files that are not there");
    options.add_flag("-q,--quiet", request.quiet, "Print only errors, and files without names");
    options.footer(
        "The trace then has the names of functions, files and lines in it. Every command that reads a trace uses "
        "them,\n"
        "also on a machine without the program's files. granary record --embed-symbols does this after recording.\n"
        "Exit status: 0; 1 if the file is not a readable trace, or --debuginfod cannot be used; 125 if the file "
        "cannot\n"
        "be written or granary itself fails; 2 if the command line is wrong.\n"
        "Example: granary symbolize --debug ./symbols -o named.trace program.trace");
}

}  // namespace

void add_symbolize(CommandLine &line) {
    const auto request = std::make_shared<SymbolizeRequest>();
    Command &command = line.add("symbolize", "Write the names of functions into a trace, for other machines",
                                "granary symbolize [OPTIONS] TRACE");
    declare_options(*command.options, *request);
    command.work = [request] { return symbolize(*request); };
}

}  // namespace gr::tool
