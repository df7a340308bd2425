// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: granary summary on the command line: its options, and what follows from them.
// Invariant: nothing is done before all options are parsed.
// Must not know: any other command.
#include "commands/summary/command.hpp"

#include <memory>
#include <string>
#include <vector>

#include "base/failure.hpp"
#include "base/output.hpp"
#include "command_line/command_line.hpp"
#include "command_line/naming_options.hpp"
#include "commands/summary/many.hpp"
#include "reading/trace/reader.hpp"
#include "reporting/analysis/analysis.hpp"
#include "reporting/document/document_json.hpp"
#include "reporting/document/document_text.hpp"

namespace gr::tool {

namespace {

struct SummaryRequest {
    std::vector<std::string> files;
    bool json = false;
    Naming naming;
};

ExitCode summary(const SummaryRequest &request) {
    const Document document = request.files.size() == 1 ? analyse(trace::Trace(request.files.front()), request.naming)
                                                        : summary_of(request.files);
    print(request.json ? to_json(document) + "\n" : to_text(document, request.naming.whole_names));
    return ExitCode::success;
}

}  // namespace

void add_summary(CommandLine &line) {
    const auto request = std::make_shared<SummaryRequest>();
    Command &command = line.add("summary", "Print what a trace shows about a program's allocations",
                                "granary summary [OPTIONS] TRACE...");
    CLI::App &options = *command.options;
    options.add_option("TRACE", request->files, "Traces, written by granary record")->required()->type_name("");
    options.add_flag("--json", request->json, "Print JSON: everything that granary report shows");
    add_naming(options, &request->naming);
    options.footer(
        "Prints sentences and small tables; granary report also has charts. Of several traces it prints one table "
        "with\n"
        "a row for each, the one with the highest peak first.\n"
        "Exit status: 0; 1 if the file is not a readable trace; 125 if granary itself fails; 2 if the command line\n"
        "is wrong.");
    command.work = [request] { return summary(*request); };
}

}  // namespace gr::tool
