// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: granary completion on the command line: its operand, and what follows from it.
// Invariant: nothing is done before all options are parsed.
// Must not know: any other command.
#include "commands/completion/command.hpp"

#include <memory>
#include <string>

#include "base/output.hpp"
#include "command_line/command_line.hpp"
#include "commands/completion/bash.hpp"
#include "commands/completion/zsh.hpp"

namespace gr::tool {

void add_completion(CommandLine &line) {
    const auto shell = std::make_shared<std::string>();
    Command &command =
        line.add("completion", "Print the script by which a shell completes granary's commands, options and operands",
                 "granary completion bash|zsh");
    CLI::App &options = *command.options;
    options.add_option("bash|zsh", *shell, "The shell")
        ->required()
        ->type_name("")
        ->check(CLI::IsMember({"bash", "zsh"}).description(""));
    options.footer(
        "The installation has both scripts where bash-completion and zsh look for them. Without an installation:\n"
        "    source <(granary completion bash)\n"
        "    granary completion zsh > FOLDER/_granary, where FOLDER is one of $fpath\n"
        "Exit status: 0; 125 if granary itself fails; 2 if the command line is wrong.");
    command.work = [shell, &line] {
        print(*shell == "bash" ? bash_script(line.table()) : zsh_script(line.table()));
        return ExitCode::success;
    };
}

}  // namespace gr::tool
