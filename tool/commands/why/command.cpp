// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: granary why on the command line: its options, and what follows from them.
// Invariant: nothing is done before all options are parsed.
// Must not know: any other command.
#include "commands/why/command.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "base/failure.hpp"
#include "base/output.hpp"
#include "base/picture.hpp"
#include "base/text.hpp"
#include "command_line/command_line.hpp"
#include "commands/why/heap_picture.hpp"
#include "commands/why/report.hpp"
#include "reading/heap/heap_map.hpp"
#include "reading/process/process_number.hpp"

namespace gr::tool {

namespace {

struct WhyRequest {
    std::string subject;  // a process id
    std::string picture;  // its file, or empty
    bool json = false;
    bool map = false;
};

ExitCode why(const WhyRequest &request) {
    const std::optional<int> process = process_number(request.subject);
    if (!process) {
        throw Failure(ExitCode::usage,
                      fmt::format("{} is not a process id; see 'granary why --help'", in_quotes(request.subject)));
    }
    const Explanation explanation = explain(*process);
    if (!request.picture.empty()) write_picture(heap_picture(explanation), request.picture);
    print(request.json ? why_json(explanation) : why_text(explanation));
    if (request.map) print(terminal_map(explanation.heaps));
    return ExitCode::success;
}

}  // namespace

void add_why(CommandLine &line) {
    const auto request = std::make_shared<WhyRequest>();
    Command &command =
        line.add("why", "Explain the resident memory (RSS) of a process on Granary", "granary why [OPTIONS] PID");
    CLI::App &options = *command.options;
    options.add_option("PID", request->subject, "A process id")->required()->type_name("");
    CLI::Option *json = options.add_flag("--json", request->json, "Print JSON");
    options.add_flag("--map", request->map, "Also draw the heap: how full its resident memory is")->excludes(json);
    options.add_option("--svg", request->picture, "Write the same map as a picture")->type_name("FILE");
    options.footer(
        "The process is neither stopped nor changed, so the parts may belong to slightly different moments.\n"
        "Exit status: 0; 1 if the process does not run on Granary; 127 if there is no such process; 125 if the\n"
        "process may not be read or granary itself fails; 2 if the command line is wrong.");
    command.work = [request] { return why(*request); };
}

}  // namespace gr::tool
