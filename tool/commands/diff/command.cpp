// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: granary diff on the command line: its options, and what follows from them.
// Invariant: nothing is done before all options are parsed.
// Must not know: any other command.
#include "commands/diff/command.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "base/failure.hpp"
#include "base/output.hpp"
#include "base/whole_file.hpp"
#include "command_line/command_line.hpp"
#include "command_line/naming_options.hpp"
#include "commands/diff/comparison.hpp"
#include "commands/diff/program_use.hpp"
#include "reading/trace/reader.hpp"
#include "reporting/document/document_json.hpp"
#include "reporting/document/document_text.hpp"
#include "reporting/html/page.hpp"

namespace gr::tool {

namespace {

struct DiffRequest {
    std::string before;
    std::string after;
    std::string page;  // empty: none is written
    bool json = false;
    Naming naming;
};

ExitCode diff(const DiffRequest &request) {
    const trace::Trace before(request.before);
    const trace::Trace after(request.after);
    const TimeAxis time(trace::Time{}, std::max(before.last(), after.last()));
    const Document document =
        comparison_of(use_of(before, time, request.naming), use_of(after, time, request.naming), time);
    if (!request.page.empty()) write_whole(request.page, page_of(to_json(document)));
    print(request.json ? to_json(document) + "\n" : to_text(document, request.naming.whole_names));
    return ExitCode::success;
}

}  // namespace

void add_diff(CommandLine &line) {
    const auto request = std::make_shared<DiffRequest>();
    Command &command =
        line.add("diff", "Show what grew from one trace of a program to another", "granary diff A B [OPTIONS]");
    CLI::App &options = *command.options;
    options.add_option("A", request->before, "The first trace, written by granary record")->required()->type_name("");
    options.add_option("B", request->after, "The second trace, of the same program")->required()->type_name("");
    options.add_option("-o,--output", request->page, "Also write the comparison as an HTML page")->type_name("PAGE");
    options.add_flag("--json", request->json, "Print JSON");
    add_naming(options, &request->naming);
    options.footer(
        "Two functions are the same if their names and files are; addresses and lines may differ.\n"
        "Exit status: 0, even if something grew; 1 if a file is not a readable trace; 125 if the page cannot be\n"
        "written or granary itself fails; 2 if the command line is wrong.");
    command.work = [request] { return diff(*request); };
}

}  // namespace gr::tool
