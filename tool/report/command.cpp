// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: granary report on the command line: its options, and what follows from them.
// Invariant: nothing is done before all options are parsed; the page's file is whole, or not there.
// Must not know: any other command.
#include "report/command.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <memory>

#include "analysis/analysis.hpp"
#include "analysis/document_json.hpp"
#include "analysis/words.hpp"
#include "base/failure.hpp"
#include "base/output.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "command_line/command_line.hpp"
#include "page/page.hpp"
#include "report/server.hpp"
#include "trace/reader.hpp"

namespace gr::tool {

namespace {

struct ReportRequest {
    std::string file;
    std::string page;  // empty: the trace's name, and .html
    bool serves = false;
    std::uint16_t port = 0;  // 0: one of the kernel's choice
};

ExitCode report(const ReportRequest &request) {
    const trace::Trace trace(request.file);
    if (request.serves) {
        serve(trace, request.port);
        return ExitCode::kSuccess;
    }
    const std::string path = request.page.empty() ? request.file + ".html" : request.page;
    const std::string page = page_of(analysis::to_json(analysis::analyse(trace)));
    write_whole(path, page);
    print(fmt::format("{}: {}\n", printable(path), analysis::bytes_words(static_cast<double>(page.size()))));
    return ExitCode::kSuccess;
}

}  // namespace

void add_report(CommandLine &line) {
    const auto request = std::make_shared<ReportRequest>();
    Command &command =
        line.add("report", "Show what a trace tells of a program's allocations", "granary report [OPTIONS] FILE");
    CLI::App &options = *command.options;
    options.add_option("FILE", request->file, "A trace, of granary record")->required()->type_name("");
    CLI::Option *const output =
        options.add_option("-o,--output", request->page, "The page's file, in place of FILE.html")->type_name("PAGE");
    CLI::Option *const serves =
        options.add_flag("--serve", request->serves, "Write no file: show the page on 127.0.0.1, until Ctrl-C")
            ->excludes(output);
    options.add_option("--port", request->port, "Of --serve, in place of one that is free")
        ->type_name("PORT")
        ->needs(serves);
    options.footer(
        "The page is one HTML file: it opens from the disk, and asks nothing of a network. With --serve a browser on\n"
        "this machine opens the address that is printed: the first picture is there at once, whatever the trace, and\n"
        "'Look closer' shows a window of time anew, down to single events.\n"
        "Exit status: 0, also when --serve is ended by Ctrl-C; 1 when the file is no trace that can be read, or there\n"
        "is no such port to be had; 125 when the page cannot be written or granary itself fails; 2 for a wrong\n"
        "command line.");
    command.work = [request] { return report(*request); };
}

}  // namespace gr::tool
