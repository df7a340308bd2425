// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/process/process_number.hpp"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

#include "base/failure.hpp"

namespace gr::tool {

std::optional<int> process_number(const std::string &word) {
    if (word.empty() || word.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
    int process = 0;
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), process);
    if (parsed.ec != std::errc{}) throw Failure(ExitCode::not_found, fmt::format("no process {}", word));
    return process;
}

}  // namespace gr::tool
