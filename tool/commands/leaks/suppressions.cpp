// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/leaks/suppressions.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <fstream>

#include "base/failure.hpp"
#include "base/text.hpp"

namespace gr::tool {

namespace {

// What the shell would read as more than a star.
std::string as_glob(std::string_view pattern) {
    const bool at_begin = pattern.starts_with('^');
    if (at_begin) pattern.remove_prefix(1);
    const bool at_end = pattern.ends_with('$');
    if (at_end) pattern.remove_suffix(1);
    std::string glob = at_begin ? "" : "*";
    for (const char letter : pattern) {
        if (letter == '?' || letter == '[' || letter == '\\') glob += '\\';
        glob += letter;
    }
    return at_end ? glob : glob + '*';
}

}  // namespace

void Suppressions::read(const std::string &path) {
    constexpr std::string_view kKind = "leak:";
    std::ifstream file(path);
    if (!file) throw Failure(ExitCode::usage, fmt::format("cannot read the suppressions in {}", in_quotes(path)));
    std::size_t number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        if (line.find_first_not_of(" \t\r") == std::string::npos || line.starts_with('#')) continue;
        if (!line.starts_with(kKind) || line.size() == kKind.size()) {
            throw Failure(ExitCode::usage, fmt::format("{}, line {}: expected leak:PATTERN", in_quotes(path), number));
        }
        patterns_.push_back(as_glob(std::string_view(line).substr(kKind.size())));
    }
}

bool Suppressions::fit(std::string_view text) const {
    const std::string whole(text);
    for (const std::string &pattern : patterns_) {
        if (!whole.empty() && ::fnmatch(pattern.c_str(), whole.c_str(), 0) == 0) return true;
    }
    return false;
}

}  // namespace gr::tool
