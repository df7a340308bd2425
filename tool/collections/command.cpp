// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      granary collections on the command line: its options, and what follows from them.
// Invariant: nothing is done before all options are parsed.
// Must not know: any other command.
#include "collections/command.hpp"

#include <memory>

#include "base/output.hpp"
#include "base/picture.hpp"
#include "collections/collections.hpp"
#include "collections/picture.hpp"
#include "command_line/command_line.hpp"

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
    return ExitCode::kSuccess;
}

}  // namespace

void add_collections(CommandLine &line) {
    const auto request = std::make_shared<CollectionsRequest>();
    Command &command = line.add("collections", "Say how often and how long a collector stopped its programs",
                                "granary collections [OPTIONS] FILE");
    CLI::App &options = *command.options;
    options.add_option("FILE", request->file, "What GRANARY_COLLECTIONS named when they ran")
        ->required()
        ->type_name("");
    options.add_flag("--json", request->json, "As JSON");
    options.add_option("--svg", request->picture, "Write the heap and the pauses over time as a picture")
        ->type_name("FILE");
    options.footer(
        "Exit status: 0; 127 when the file is not there or tells of no collection, 125 when it is another's or\n"
        "granary itself fails, 2 for a wrong command line.\n"
        "Example: granary run --gc --set COLLECTIONS=/tmp/log guile x.scm; granary collections /tmp/log");
    command.work = [request] { return collections(*request); };
}

}  // namespace gr::tool
