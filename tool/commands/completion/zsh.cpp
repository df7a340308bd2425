// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/completion/zsh.hpp"

#include <fmt/format.h>

#include <string_view>

#include "commands/completion/values.hpp"

namespace gr::tool {

namespace {

constexpr const char *kZshHead = R"(#compdef granary
# Completion of zsh for granary, written by 'granary completion zsh'.

# A program and its arguments are a command line of their own.
_granary_program() {
    while [[ $words[1] == -- && $CURRENT -gt 1 ]]; do
        shift words
        (( CURRENT-- ))
    done
    if (( CURRENT == 1 )); then
        _command_names -e
    else
        _normal
    fi
}

_granary() {
    local curcontext=$curcontext state line
    typeset -A opt_args
    local -a names  # "commands" is a table of zsh that the functions below read
)";

constexpr const char *kFirstWord = R"('(-)1: :->command' \
        '(-)*:: :->words' && return 0
    case $state in
        command)
            _describe -t commands 'granary command' names
            return
            ;;
    esac
    curcontext=${curcontext%:*}-$words[1]:
    case $words[1] in
)";

constexpr const char *kEnd = R"(    esac
}

_granary "$@"
)";

std::string escaped(std::string_view text, std::string_view special) {
    std::string result;
    for (const char letter : text) {
        if (special.find(letter) != std::string_view::npos) result += '\\';
        result += letter;
    }
    return result;
}

// What _arguments does where a value or an operand stands.
std::string action_of(const std::string &name) {
    const Values values = values_of(name);
    std::vector<std::string> actions;
    if (!values.words.empty()) actions.push_back(fmt::format("({})", fmt::join(values.words, " ")));
    if (values.files) actions.emplace_back("_files");
    if (values.programs) actions.emplace_back("_path_commands");
    if (values.processes) actions.emplace_back("_pids");
    if (values.programs) actions.emplace_back("_files -g '*(-*)'");
    if (actions.empty()) return " ";
    if (actions.size() == 1) return actions.front();
    std::string alternatives;
    for (const std::string &action : actions) alternatives += fmt::format(" \"values:value:{}\"", action);
    return fmt::format("{{_alternative{}}}", alternatives);
}

std::string value_spec(const OptionRow &row) {
    if (row.value.empty()) return {};
    return fmt::format("{}{}:{}", row.value_is_optional ? "::" : ":", escaped(row.value, "\\:"), action_of(row.value));
}

// A name before its value: --output=FILE or --output FILE, -oFILE or -o FILE, --stats=text.
std::string name_spec(const OptionRow &row, const std::string &name) {
    if (row.value.empty()) return name;
    if (row.value_is_optional) return name + "=-";
    return name + (name.starts_with("--") ? "=" : "+");
}

// One word of _arguments for each name; the names exclude each other, unless the option may be repeated.
void add_specs(const OptionRow &row, std::vector<std::string> &specs) {
    const std::string others = row.repeats            ? "*"
                               : row.names.size() > 1 ? fmt::format("({})", fmt::join(row.names, " "))
                                                      : "";
    for (const std::string &name : row.names) {
        specs.push_back(shell_quoted(fmt::format("{}{}[{}]{}", others, name_spec(row, name),
                                                 escaped(row.description, "\\[]"), value_spec(row))));
    }
}

std::vector<std::string> specs_of(const CommandRow &command) {
    std::vector<std::string> specs;
    for (const OptionRow &row : command.options) add_specs(row, specs);
    for (std::size_t i = 0; i < command.operands.size(); ++i) {
        const std::string &name = command.operands[i].value;
        specs.push_back(shell_quoted(fmt::format("{}:{}:{}", i + 1, escaped(name, "\\:"), action_of(name))));
    }
    if (command.takes_program) specs.emplace_back("'(-)*::program and arguments:_granary_program'");
    return specs;
}

std::string case_of(const CommandRow &command) {
    if (command.takes_words) return fmt::format("        {})\n            _files\n            ;;\n", command.name);
    std::string text = fmt::format("        {})\n            _arguments -S", command.name);
    for (const std::string &spec : specs_of(command)) text += " \\\n                " + spec;
    return text + "\n            ;;\n";
}

}  // namespace

std::string zsh_script(const CommandTable &table) {
    std::string commands;
    std::string cases;
    for (const CommandRow &command : table.commands) {
        const std::string line = fmt::format("{}:{}", command.name, escaped(command.description, "\\"));
        commands += fmt::format("        {}\n", shell_quoted(line));
        cases += case_of(command);
    }
    std::vector<std::string> specs;
    for (const OptionRow &row : table.options) add_specs(row, specs);
    return fmt::format("{}    names=(\n{}    )\n    _arguments -C \\\n        {} \\\n        {}{}{}", kZshHead,
                       commands, fmt::join(specs, " \\\n        "), kFirstWord, cases, kEnd);
}

}  // namespace gr::tool
