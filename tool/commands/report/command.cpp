// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: granary report on the command line: its options, and what follows from them.
// Invariant: nothing is done before all options are parsed; the page's file is whole, or not there.
// Must not know: any other command.
#include "commands/report/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>

#include "base/failure.hpp"
#include "base/output.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "command_line/command_line.hpp"
#include "command_line/naming_options.hpp"
#include "commands/report/server.hpp"
#include "reading/symbols/source_folder.hpp"
#include "reading/trace/reader.hpp"
#include "reporting/analysis/analysis.hpp"
#include "reporting/document/document_json.hpp"
#include "reporting/document/words.hpp"
#include "reporting/html/page.hpp"

namespace gr::tool {

namespace {

struct ReportRequest {
    std::string file;
    std::string page;  // empty: the trace's name, and .html
    bool serves = false;
    std::uint16_t port = 0;  // 0: one of the kernel's choice
    Naming naming;
};

// Only the files' names are looked at; no file is read.
void hint_at_sources(const Document &document) {
    const SourceFolder here(".");
    const bool are_here = std::ranges::any_of(
        document.frames, [&](const Frame &frame) { return !frame.file.empty() && here.has(frame.file); });
    if (are_here)
        print("source files of the program lie below this folder: --sources . shows their lines in the page\n");
}

ExitCode report(const ReportRequest &request) {
    const trace::Trace trace(request.file);
    if (!request.naming.sources.empty()) const SourceFolder folder(request.naming.sources);  // or one line says why not
    if (request.serves) {
        serve(trace, request.naming, request.port);
        return ExitCode::success;
    }
    const std::string path = request.page.empty() ? request.file + ".html" : request.page;
    const Document document = analyse(trace, request.naming);
    const std::string page = page_of(to_json(document));
    write_whole(path, page);
    print(fmt::format("{}: {}\n", printable(path), bytes_words(static_cast<double>(page.size()))));
    if (request.naming.sources.empty()) hint_at_sources(document);
    return ExitCode::success;
}

}  // namespace

void add_report(CommandLine &line) {
    const auto request = std::make_shared<ReportRequest>();
    Command &command = line.add("report", "Write a trace as an HTML page with charts, or show it in a browser",
                                "granary report [OPTIONS] TRACE");
    CLI::App &options = *command.options;
    options.add_option("TRACE", request->file, "A trace, written by granary record")->required()->type_name("");
    CLI::Option *const output =
        options.add_option("-o,--output", request->page, "The page to write (default: TRACE.html)")->type_name("PAGE");
    CLI::Option *const serves =
        options
            .add_flag("--serve", request->serves, "Serve the page on 127.0.0.1 until Ctrl-C instead of writing a file")
            ->excludes(output);
    options.add_option("--port", request->port, "With --serve: the port (default: a free port)")
        ->type_name("PORT")
        ->needs(serves);
    add_naming(options, &request->naming);
    options
        .add_option(
            "--sources", request->naming.sources,
            "Show lines of the program's source files, of those below FOLDER; the page then contains these lines")
        ->type_name("FOLDER");
    options.footer(
        "The page is one HTML file that needs no network. With --serve, open the printed address in a browser on\n"
        "this machine. A first picture appears soon even for a large trace, and 'Look closer' analyses a window of\n"
        "time anew, down to single events.\n"
        "Exit status: 0, also after Ctrl-C ended --serve; 1 if the file is not a readable trace or the port cannot\n"
        "be used; 125 if the page cannot be written or granary itself fails; 2 if the command line is wrong.");
    command.work = [request] { return report(*request); };
}

}  // namespace gr::tool
