// SPDX-License-Identifier: Apache-2.0 OR MIT
// How the rows come from CLI11's options: CommandLine::table().
#include "command_line/option_table.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "command_line/command_line.hpp"

namespace gr::tool {

namespace {

// "--stats[=text|json|prometheus]" in the help stands for a value that may be left out.
std::string optional_value(const CLI::App &app, const CLI::Option &option) {
    constexpr std::string_view kBegin = "[=";
    const auto formatter = std::dynamic_pointer_cast<CLI::Formatter>(app.get_formatter());
    if (formatter == nullptr) return {};
    const std::string shown = formatter->make_option_name(&option, false);
    const std::size_t begin = shown.find(kBegin);
    const std::size_t end = shown.find(']', begin);
    if (begin == std::string::npos || end == std::string::npos) return {};
    return shown.substr(begin + kBegin.size(), end - begin - kBegin.size());
}

OptionRow row_of(const CLI::App &app, const CLI::Option &option) {
    OptionRow row;
    for (const std::string &name : option.get_snames()) row.names.push_back("-" + name);
    for (const std::string &name : option.get_lnames()) row.names.push_back("--" + name);
    row.description = option.get_description();
    row.repeats = option.get_items_expected_max() > 1;
    if (option.get_items_expected_min() > 0) {
        row.value = option.get_type_name();
    } else {
        row.value = optional_value(app, option);
        row.value_is_optional = !row.value.empty();
    }
    return row;
}

// An option group is an application without a name. Its option for the help is not shown.
void add_options_of(const CLI::App &app, std::vector<OptionRow> &rows) {
    for (const CLI::Option *option : app.get_options()) {
        if (!option->nonpositional() || option->get_group().empty()) continue;
        if (app.get_name().empty() && option == app.get_help_ptr()) continue;
        rows.push_back(row_of(app, *option));
    }
    for (const CLI::App *group : app.get_subcommands([](const CLI::App *sub) { return sub->get_name().empty(); })) {
        add_options_of(*group, rows);
    }
}

std::vector<OptionRow> options_of(const CLI::App &app) {
    std::vector<OptionRow> rows;
    add_options_of(app, rows);
    return rows;
}

std::vector<OptionRow> operands_of(const CLI::App &app) {
    std::vector<OptionRow> rows;
    for (const CLI::Option *option : app.get_options()) {
        if (!option->get_positional() || option->get_group().empty()) continue;
        OptionRow row = row_of(app, *option);
        row.names = {option->get_name(true)};
        row.value = row.names.front();
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace

CommandTable CommandLine::table() const {
    CommandTable table{options_of(app_), {}};
    for (const Command &command : commands_) {
        const CLI::App &app = *command.options;
        std::vector<OptionRow> operands = operands_of(app);
        if (command.program != nullptr) operands.resize(std::min(operands.size(), command.operands));
        table.commands.push_back({app.get_name(), app.get_description(), options_of(app), std::move(operands),
                                  command.program != nullptr, command.words != nullptr});
    }
    return table;
}

}  // namespace gr::tool
