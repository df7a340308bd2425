// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: granary report on the command line: its options, and what follows from them.
// Invariant: nothing is done before all options are parsed; the page's file is whole, or not there.
// Must not know: any other command.
#include "report/command.hpp"

#include <fmt/format.h>

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
#include "trace/reader.hpp"

namespace gr::tool {

namespace {

struct ReportRequest {
    std::string file;
    std::string page;  // empty: the trace's name, and .html
};

ExitCode report(const ReportRequest &request) {
    const trace::Trace trace(request.file);
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
    options.add_option("-o,--output", request->page, "The page's file, in place of FILE.html")->type_name("PAGE");
    options.footer(
        "The page is one HTML file: it opens from the disk, and asks nothing of a network.\n"
        "Exit status: 0, or 1 when the file is no trace that can be read, 125 when the page cannot be written or\n"
        "granary itself fails, 2 for a wrong command line.");
    command.work = [request] { return report(*request); };
}

}  // namespace gr::tool
