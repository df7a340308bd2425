// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/allocators/lab_options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "reading/allocators/loader_path.hpp"
#include "reading/process/command_output.hpp"

namespace gr::tool {

namespace {

constexpr char kBeforeOption = ':';
constexpr char kBetweenOptions = ',';  // in the variable
constexpr const char *kShell = "/bin/sh";

// The first line about the options that a process under the library prints to standard error; empty: none.
std::string said_to(const std::string &library, const std::string &options) {
    const std::optional<std::string> output =
        output_of({kShell, "-c", ":"},
                  {fmt::format("LD_PRELOAD={}", preload_path(library)), fmt::format("{}={}", kLabVariable, options)},
                  STDERR_FILENO);
    if (!output) {
        throw Failure(ExitCode::tool_failure,
                      fmt::format("cannot read the options of {}: {} does not run with this library",
                                  in_quotes(library), kShell));
    }
    const std::string begin = fmt::format("{}: ", kLabVariable);
    const std::size_t found = output->find(begin);
    if (found == std::string::npos) return {};
    const std::size_t first = found + begin.size();
    const std::string line = output->substr(first, output->find('\n', first) - first);
    return printable(line.substr(0, line.find("; ignored")));  // this command refuses the option instead
}

}  // namespace

NameAndOptions split_options(const std::string &words) {
    if (!words.starts_with(kLab)) return {words, ""};
    const std::size_t end = std::min(words.find(kBeforeOption, kLab.size()), words.size());
    std::string options = words.substr(std::min(end + 1, words.size()));
    std::ranges::replace(options, kBeforeOption, kBetweenOptions);
    return {words.substr(0, end), options};
}

std::string refusal_of(const std::string &library, const std::string &options) {
    std::string refusal = said_to(library, options);
    // A library that has options refuses a word that is none.
    if (refusal.empty() && said_to(library, "?").empty()) refusal = "this allocator has no options";
    return refusal;
}

}  // namespace gr::tool
