// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: granary collections on the command line: its options, and what follows from them.
// Invariant: nothing is done before all options are parsed.
// Must not know: any other command.
#include "commands/collections/command.hpp"

#include <memory>

#include "base/output.hpp"
#include "base/picture.hpp"
#include "command_line/command_line.hpp"
#include "commands/collections/collections.hpp"
#include "commands/collections/picture.hpp"

namespace gr::tool {

namespace {

struct CollectionsRequest {
    std::string file;
    std::string picture;  // its file, or empty
    bool json = false;
};

ExitCode collections(const CollectionsRequest &request) {
    const std::vector<ProcessCollections> processes = read_collections(request.file);
    if (!request.picture.empty()) write_picture(collections_picture(processes), request.picture);
    print(request.json ? collections_json(processes) : collections_text(processes));
    return ExitCode::success;
}

}  // namespace

void add_collections(CommandLine &line) {
    const auto request = std::make_shared<CollectionsRequest>();
    Command &command = line.add("collections", "Show how often a collector ran and how long it stopped the program",
                                "granary collections [OPTIONS] FILE");
    CLI::App &options = *command.options;
    options.add_option("FILE", request->file, "The file that GRANARY_COLLECTIONS named while the programs ran")
        ->required()
        ->type_name("");
    options.add_flag("--json", request->json, "Print JSON");
    options.add_option("--svg", request->picture, "Also draw the heap size and the pauses over time")
        ->type_name("FILE");
    options.footer(
        "Exit status: 0; 127 if the file does not exist or has no collections; 125 if the file is of another kind\n"
        "or granary itself fails; 2 if the command line is wrong.\n"
        "Example: granary run --gc --set COLLECTIONS=/tmp/log guile x.scm; granary collections /tmp/log");
    command.work = [request] { return collections(*request); };
}

}  // namespace gr::tool
