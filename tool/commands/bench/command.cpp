// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: granary bench on the command line: its options, and what follows from them.
// Invariant: nothing is done before all options are parsed.
// Must not know: any other command.
#include "commands/bench/command.hpp"

#include <memory>

#include "command_line/command_line.hpp"
#include "commands/bench/bench.hpp"

namespace gr::tool {

void add_bench(CommandLine &line) {
    const auto arguments = std::make_shared<std::vector<std::string>>();
    Command &command = line.add("bench", "Compare allocators with the benchmarks of five papers and with real programs",
                                "granary bench [OPTIONS]");
    command.words = arguments.get();
    command.work = [arguments]() -> ExitCode { run_bench(*arguments); };
}

}  // namespace gr::tool
