// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the command line: which command the words mean, its options, and how granary ends.
// Invariant: results go to stdout, errors as one line to stderr; every way out has a code of ExitCode.
// Must not know: any command.
#pragma once

#include <CLI/CLI.hpp>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/failure.hpp"
#include "command_line/option_table.hpp"

namespace gr::tool {

// CLI11's own usage line cannot show operands that it does not parse.
class UsageFormatter : public CLI::Formatter {
  public:
    explicit UsageFormatter(std::string usage);
    std::string make_usage(const CLI::App *app, std::string name) const override;
    std::string make_option_opts(const CLI::Option *option) const override;

  private:
    std::string usage_;
};

struct Command {
    CLI::App *options = nullptr;
    std::function<ExitCode()> work;               // once the options are parsed; may throw Failure
    std::vector<std::string> *program = nullptr;  // takes a program and its arguments, which follow the options
    std::size_t operands = 0;                     // in front of the program, which granary parses, too
    // Whether the program's place holds one; otherwise granary parses that word and all behind it. Empty: it always does.
    std::function<bool(const std::string &word)> is_program;
    std::vector<std::string> *words = nullptr;  // takes all words after the command's name: none is an option of it
};

class CommandLine {
  public:
    using Adder = void (*)(CommandLine &line);

    explicit CommandLine(std::string version);

    // A new command, whose options and work are its adder's affair. It stays where it is.
    Command &add(const std::string &name, const std::string &description, const std::string &usage);

    // Has the commands added, finds the one that the words mean, and does its work. What main shall return.
    [[nodiscard]] int run(std::span<const Adder> commands, std::span<char *> words);

    // All commands that were added, with their options.
    [[nodiscard]] CommandTable table() const;

  private:
    std::vector<std::string> split(std::span<char *> words) const;
    ExitCode parse_and_work(std::span<char *> words);
    ExitCode work() const;
    std::string help_text() const;
    std::string command_name() const;
    int fail(ExitCode code, const std::string &what) const;

    CLI::App app_{
        "Granary is a malloc replacement for Linux. This command runs programs on it and examines how they use "
        "memory."};
    std::string version_;
    std::deque<Command> commands_;
};

}  // namespace gr::tool
