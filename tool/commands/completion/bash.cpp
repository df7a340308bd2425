// SPDX-License-Identifier: Apache-2.0 OR MIT
// What the script inserts is a name or a value alone; the descriptions only appear in lists on the screen.
#include "commands/completion/bash.hpp"

#include <fmt/format.h>

#include "commands/completion/values.hpp"

namespace gr::tool {

namespace {

constexpr const char *kNoValue = "-";
constexpr const char *kTextOfAnyKind = "text";
constexpr const char *kProgram = "program-and-arguments";

constexpr const char *kBashHead = R"(# Completion of bash for granary, written by 'granary completion bash'.
#
# In the tables below VALUES are words between commas: '-' for an option without a value; '?' first, if the value may be
# left out; then 'files', 'programs', 'processes', 'text', or =WORD for a word that stands for itself.
)";

constexpr const char *kFunctions = R"bash(
_granary_values_of_option() {
    local name values
    while IFS='|' read -r name values _; do
        if [[ $name == "$2" ]]; then
            echo "$values"
            return
        fi
    done < <(_granary_options "$1")
}

# Reads lines NAME|DESCRIPTION and proposes the names that begin with $1. Only a list on the screen has descriptions.
_granary_propose() {
    local name text names=() lines=()
    while IFS='|' read -r name text; do
        [[ $name == "$1"* ]] || continue
        names+=("$name")
        lines+=("$(printf '%-20s  (%s)' "$name" "$text")")
    done
    case ${#names[@]}:${COMP_TYPE:-9} in
        0:* | 1:*) COMPREPLY+=("${names[@]}") ;;
        *:33 | *:63 | *:64) COMPREPLY+=("${lines[@]}") ;;
        *) COMPREPLY+=("${names[@]}") ;;
    esac
}

# Proposes what begins with $2 and is one of the VALUES $1.
_granary_propose_values() {
    local kind kinds found
    IFS=, read -r -a kinds <<< "$1"
    for kind in "${kinds[@]}"; do
        found=()
        case $kind in
            files)
                compopt -o filenames 2> /dev/null
                mapfile -t found < <(compgen -f -- "$2")
                ;;
            programs) mapfile -t found < <(compgen -c -- "$2" | sort -u) ;;
            processes) mapfile -t found < <(compgen -W "$(cd /proc && echo [0-9]*)" -- "$2") ;;
            =*) [[ ${kind#=} != "$2"* ]] || found=("${kind#=}") ;;
        esac
        COMPREPLY+=("${found[@]}")
    done
}

# The words from number $1 on are a command line of their own.
_granary_propose_program() {
    local helper
    for helper in _comp_command_offset _command_offset; do
        if declare -F "$helper" > /dev/null; then
            "$helper" "$1"
            return
        fi
    done
    local values=files
    ((COMP_CWORD > $1)) || values=programs,files
    _granary_propose_values "$values" "${COMP_WORDS[COMP_CWORD]}"
}

_granary() {
    local word=${COMP_WORDS[COMP_CWORD]} command='' option='' awaited='' ended='' operands=() operand i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        if [[ ${COMP_WORDS[i]} == = && -n $option ]]; then
            [[ -n $awaited ]] || awaited=$(_granary_values_of_option "$command" "$option")
        elif [[ -n $awaited ]]; then
            awaited=''
        elif [[ -z $ended && ${COMP_WORDS[i]} == -- ]]; then
            ended=yes
        elif [[ -z $ended && ${COMP_WORDS[i]} == -?* ]]; then
            option=${COMP_WORDS[i]}
            awaited=$(_granary_values_of_option "$command" "$option")
            [[ $awaited != [-?]* ]] || awaited=''
        elif [[ -z $command ]]; then
            command=${COMP_WORDS[i]}
            mapfile -t operands < <(_granary_operands "$command")
        elif [[ ${operands[0]-} == program-and-arguments ]]; then
            _granary_propose_program "$i"
            return
        else
            operands=("${operands[@]:1}")
        fi
    done
    operand=${operands[0]-}
    # Where = does not part words, an option and its value are one.
    if [[ -z $ended$awaited && $word == --*=* ]]; then
        _granary_propose_values "$(_granary_values_of_option "$command" "${word%%=*}")" "${word#*=}"
        COMPREPLY=("${COMPREPLY[@]/#/${word%%=*}=}")
    elif [[ $word == = && -n $option ]]; then
        _granary_propose_values "${awaited:-$(_granary_values_of_option "$command" "$option")}" ''
    elif [[ -n $awaited ]]; then
        _granary_propose_values "$awaited" "$word"
    elif [[ -z $ended && $word == -* ]]; then
        _granary_propose "$word" < <(_granary_options "$command" | cut -d '|' -f 1,3-)
    elif [[ -z $command ]]; then
        _granary_propose "$word" < <(_granary_commands)
    elif [[ $operand == program-and-arguments ]]; then
        _granary_propose_program "$COMP_CWORD"
    else
        _granary_propose_values "$operand" "$word"
    fi
}

complete -F _granary granary
)bash";

// The VALUES of the head's comment.
std::string values_text(const OptionRow &row) {
    if (row.value.empty()) return kNoValue;
    const Values values = values_of(row.value);
    std::string text = row.value_is_optional ? "?" : "";
    const auto add = [&text](const std::string &kind) { text += (text.empty() ? "" : ",") + kind; };
    for (const std::string &word : values.words) add("=" + word);
    if (values.files) add("files");
    if (values.programs) add("programs");
    if (values.processes) add("processes");
    return text.empty() ? kTextOfAnyKind : text;
}

std::string lines_text(const std::vector<std::string> &lines, std::string_view indentation) {
    if (lines.empty()) return fmt::format("{}:\n", indentation);
    std::string text = fmt::format("{}printf '%s\\n'", indentation);
    for (const std::string &line : lines) text += fmt::format(" \\\n{}    {}", indentation, shell_quoted(line));
    return text + "\n";
}

std::vector<std::string> option_lines(const std::vector<OptionRow> &options) {
    std::vector<std::string> lines;
    for (const OptionRow &row : options) {
        for (const std::string &name : row.names)
            lines.push_back(fmt::format("{}|{}|{}", name, values_text(row), row.description));
    }
    return lines;
}

std::vector<std::string> operand_lines(const CommandRow &command) {
    std::vector<std::string> lines;
    for (const OptionRow &row : command.operands) lines.push_back(values_text(row));
    if (command.takes_program) lines.emplace_back(kProgram);
    return lines;
}

std::string cases_text(std::string_view name, const std::string &cases) {
    return fmt::format("\n{}() {{\n    case $1 in\n{}    esac\n}}\n", name, cases);
}

std::string case_text(std::string_view pattern, const std::vector<std::string> &lines) {
    constexpr std::string_view kIndentation = "            ";
    return fmt::format("        {})\n{}{};;\n", pattern, lines_text(lines, kIndentation), kIndentation);
}

}  // namespace

std::string bash_script(const CommandTable &table) {
    std::vector<std::string> commands;
    std::string options = case_text("''", option_lines(table.options));
    std::string operands;
    for (const CommandRow &command : table.commands) {
        commands.push_back(fmt::format("{}|{}", command.name, command.description));
        options += case_text(command.name, option_lines(command.options));
        operands += case_text(command.name, operand_lines(command));
    }
    return fmt::format("{}\n# Lines NAME|DESCRIPTION.\n_granary_commands() {{\n{}}}\n", kBashHead,
                       lines_text(commands, "    ")) +
           "\n# Lines NAME|VALUES|DESCRIPTION: the options of the command $1, or those in front of every command." +
           cases_text("_granary_options", options) +
           "\n# The VALUES of each operand of the command $1; a last line says where a program and its arguments "
           "follow." +
           cases_text("_granary_operands", operands) + kFunctions;
}

}  // namespace gr::tool
