// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: granary options on the command line: its options, and what follows from them.
// Invariant: nothing is done before all options are parsed.
// Must not know: any other command.
#include "commands/options/command.hpp"

#include <memory>

#include "command_line/command_line.hpp"
#include "commands/options/options.hpp"

namespace gr::tool {

namespace {

struct OptionsRequest {
    std::string library;  // "": find it
    bool json = false;
    bool under_library = false;
};

ExitCode options(const OptionsRequest &request) {
    if (!request.under_library) restart_under_library(request.library, request.json);
    print_options(request.json);
    return ExitCode::success;
}

}  // namespace

void add_options(CommandLine &line) {
    const auto request = std::make_shared<OptionsRequest>();
    Command &command =
        line.add("options", "Print the options of the library, their values and where the values come from",
                 "granary options [OPTIONS]");
    command.options->add_flag("--json", request->json, "Print JSON");
    command.options
        ->add_option("--library", request->library, "Use this libgranary.so instead of the one beside the command")
        ->type_name("PATH");
    command.options->add_flag(kUnderLibraryFlag, request->under_library)->group("");
    command.options->footer("Example: GRANARY_RETAIN=1M granary options");
    command.work = [request] { return options(*request); };
}

}  // namespace gr::tool
