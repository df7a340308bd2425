// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/bench/bench.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/failure.hpp"
#include "base/text.hpp"

namespace gr::tool {

namespace {

// Written by the build beside the command; it knows where the checkout is.
constexpr const char *kFileName = "granary-bench";

}  // namespace

void run_bench(const std::vector<std::string> &arguments) {
    std::error_code error;
    const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
    const std::string path = (folder / kFileName).string();
    if (error || !std::filesystem::exists(path, error)) {
        throw Failure(ExitCode::tool_failure,
                      fmt::format("no {} in {}; granary bench runs from a checkout: run 'make bench' there, then "
                                  "build/release/granary bench",
                                  kFileName, in_quotes(folder.string())));
    }
    std::vector<char *> words{const_cast<char *>(path.c_str())};
    for (const std::string &argument : arguments) words.push_back(const_cast<char *>(argument.c_str()));
    words.push_back(nullptr);
    ::execv(path.c_str(), words.data());
    throw Failure(ExitCode::tool_failure,
                  fmt::format("cannot start {}: {}", in_quotes(path), std::generic_category().message(errno)));
}

}  // namespace gr::tool
