// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "command_line/command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include "base/output.hpp"

namespace gr::tool {

namespace {

void add_help(CLI::App &app, const std::string &usage) {
    app.formatter(std::make_shared<UsageFormatter>(usage));
    app.set_help_flag("-h,--help", "Print this help and exit");
}

// The index at which the program begins among a command's words: the options of the program are not granary's.
std::size_t program_start(const Command &command, std::span<char *> words) {
    std::size_t index = 0;
    std::size_t operands = command.operands;
    while (index < words.size()) {
        const std::string word = words[index];
        if (word == "--") return index;
        if (!word.starts_with('-') || word == "-") {
            if (operands == 0) return command.is_program && !command.is_program(word) ? words.size() : index;
            --operands;
            ++index;
            continue;
        }
        const CLI::Option *option = command.options->get_option_no_throw(word);
        const bool value_follows = option != nullptr && option->get_items_expected_min() > 0;
        index += value_follows ? 2 : 1;
    }
    return words.size();
}

}  // namespace

UsageFormatter::UsageFormatter(std::string usage) : usage_(std::move(usage)) {
    constexpr std::size_t kNameColumns = 26;
    column_width(kNameColumns);
}

std::string UsageFormatter::make_usage(const CLI::App * /*app*/, std::string /*name*/) const {
    return fmt::format("\nUsage: {}\n", usage_);
}

std::string UsageFormatter::make_option_opts(const CLI::Option *option) const {
    return option->get_type_name().empty() ? "" : " " + option->get_type_name();
}

CommandLine::CommandLine(std::string version) : version_(std::move(version)) {
    app_.name("granary");
    add_help(app_, "granary COMMAND [OPTIONS] ...");
    app_.set_version_flag("-V,--version", version_, "Print the version and exit");
    app_.require_subcommand(1);
    app_.footer("'granary COMMAND --help' describes a command. See also granary(1).");
}

Command &CommandLine::add(const std::string &name, const std::string &description, const std::string &usage) {
    CLI::App *options = app_.add_subcommand(name, description);
    add_help(*options, usage);
    return commands_.emplace_back(Command{options, {}, nullptr, 0, {}, nullptr});
}

// Gives a command the words that granary does not parse, and returns the words that granary parses.
std::vector<std::string> CommandLine::split(std::span<char *> words) const {
    if (words.size() <= 1) return {};
    words = words.subspan(1);
    std::size_t end = words.size();
    const auto is_meant = [&](const Command &command) { return command.options->get_name() == words.front(); };
    const auto command = std::ranges::find_if(commands_, is_meant);
    if (command != commands_.end() && command->words != nullptr) {
        end = 1;
        command->words->assign(words.begin() + 1, words.end());
    }
    if (command != commands_.end() && command->program != nullptr) {
        end = std::min(1 + program_start(*command, words.subspan(1)), words.size());
        const bool marked = end < words.size() && std::string_view(words[end]) == "--";
        const std::span<char *> program = words.subspan(marked ? end + 1 : end);
        command->program->assign(program.begin(), program.end());
    }
    return {words.begin(), words.begin() + static_cast<std::ptrdiff_t>(end)};
}

ExitCode CommandLine::work() const {
    for (const Command &command : commands_) {
        if (command.options->parsed()) return command.work();
    }
    return ExitCode::success;
}

std::string CommandLine::command_name() const {
    const std::vector<CLI::App *> used = app_.get_subcommands();
    return used.empty() ? "" : used.front()->get_name();
}

// CLI11 prints a second empty line in place of a group of hidden options.
std::string CommandLine::help_text() const {
    std::string text = app_.help();
    for (std::size_t gap = text.find("\n\n\n"); gap != std::string::npos; gap = text.find("\n\n\n")) text.erase(gap, 1);
    return text;
}

int CommandLine::fail(ExitCode code, const std::string &what) const {
    const std::string name = command_name();
    complain(name.empty() ? what : fmt::format("{}: {}", name, what));
    return static_cast<int>(code);
}

ExitCode CommandLine::parse_and_work(std::span<char *> words) {
    std::vector<std::string> arguments = split(words);
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants a vector
    try {
        app_.parse(arguments);
    } catch (const CLI::CallForVersion &) {
        print(version_);
        return ExitCode::success;
    } catch (const CLI::CallForHelp &) {
        print(help_text());
        return ExitCode::success;
    } catch (const CLI::ParseError &error) {
        const std::string name = command_name();
        throw Failure(ExitCode::usage,
                      fmt::format("{}; see 'granary {}{}--help'", error.what(), name, name.empty() ? "" : " "));
    }
    return work();
}

int CommandLine::run(std::span<const Adder> commands, std::span<char *> words) {
    try {
        for (const Adder add_command : commands) add_command(*this);
        return static_cast<int>(parse_and_work(words));
    } catch (const Failure &failure) {
        return fail(failure.code(), failure.what());
    } catch (const std::bad_alloc &) {
        return fail(ExitCode::tool_failure, "out of memory");
    } catch (const std::exception &error) {
        return fail(ExitCode::tool_failure, error.what());
    }
}

}  // namespace gr::tool
