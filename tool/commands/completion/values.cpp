// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/completion/values.hpp"

#include <algorithm>
#include <array>

namespace gr::tool {

namespace {

using namespace std::string_view_literals;

// What nobody can propose. Every other name in upper case stands for a file.
constexpr std::array kFreeText{"BYTES"sv, "N"sv, "NAME"sv, "NAME=VALUE"sv, "NUMBER"sv, "PORT"sv, "SECONDS"sv};

bool is_word(std::string_view name) {
    return !name.empty() &&
           std::ranges::all_of(name, [](char letter) { return (letter >= 'a' && letter <= 'z') || letter == '-'; });
}

void add(std::string_view name, Values &values) {
    if (is_word(name)) {
        values.words.emplace_back(name);
    } else if (name == "PROGRAM") {
        values.programs = true;
    } else if (name == "PID") {
        values.processes = true;
    } else if (std::ranges::find(kFreeText, name) == kFreeText.end()) {
        values.files = true;
    }
}

}  // namespace

Values values_of(std::string_view name) {
    Values values;
    while (!name.empty()) {
        const std::size_t end = std::min(name.find('|'), name.size());
        add(name.substr(0, end), values);
        name.remove_prefix(std::min(end + 1, name.size()));
    }
    return values;
}

std::string shell_quoted(std::string_view text) {
    std::string quoted = "'";
    for (const char letter : text) {
        if (letter == '\'') {
            quoted += "'\\''";
        } else {
            quoted += letter;
        }
    }
    return quoted + "'";
}

}  // namespace gr::tool
