// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/process/program.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "base/variables.hpp"

namespace gr::tool {

namespace {

bool is_file(const std::string &path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

bool exists(const std::string &path) { return ::access(path.c_str(), F_OK) == 0; }

constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
    const std::size_t start = text.find_first_not_of(kBlanks);
    if (start == std::string_view::npos) return {};
    return text.substr(start, text.find_last_not_of(kBlanks) - start + 1);
}

}  // namespace

std::string find_program(const std::string &name) {
    if (name.find('/') != std::string::npos) {
        if (exists(name)) return name;
        throw Failure(ExitCode::not_found, fmt::format("no such program: {}", in_quotes(name)));
    }
    const std::string folders = variable("PATH").value_or("/bin:/usr/bin");  // glibc's own default
    std::string not_executable;
    for (std::size_t start = 0; !name.empty() && start <= folders.size();) {
        const std::size_t end = std::min(folders.find(':', start), folders.size());
        const std::string folder = folders.substr(start, end - start);
        std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
        if (is_file(candidate)) {
            if (::access(candidate.c_str(), X_OK) == 0) return candidate;
            if (not_executable.empty()) not_executable = candidate;
        }
        start = end + 1;
    }
    if (!not_executable.empty()) return not_executable;
    const std::string hint = !name.empty() && is_file(name) ? fmt::format("; did you mean ./{}", printable(name)) : "";
    throw Failure(ExitCode::not_found, fmt::format("no program {} on PATH{}", in_quotes(name), hint));
}

std::vector<std::string> script_words(std::string_view line) {
    line = trimmed(line);
    if (line.empty()) return {};
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    std::vector<std::string> words{std::string(line.substr(0, end))};
    const std::string_view argument = trimmed(line.substr(end));
    if (!argument.empty()) words.emplace_back(argument);
    return words;
}

std::string script_program(std::string_view line) {
    const std::vector<std::string> words = script_words(line);
    if (words.empty()) return {};
    const bool by_env = words.front().ends_with("/env");
    if (!by_env || words.size() < 2) return words.front();
    // env's operand is the first word that is neither an option nor an assignment.
    std::istringstream arguments(words.back());
    for (std::string word; arguments >> word;) {
        if (!word.starts_with('-') && word.find('=') == std::string::npos) return word;
    }
    return words.front();
}

}  // namespace gr::tool
