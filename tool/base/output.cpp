// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "base/output.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "base/failure.hpp"
#include "base/text.hpp"

namespace gr::tool {

void print(std::string_view text) {
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (!written) {
        throw Failure(ExitCode::tool_failure, fmt::format("cannot write: {}", std::generic_category().message(errno)));
    }
}

void complain(std::string_view line) { std::fputs(fmt::format("granary: {}\n", printable(line)).c_str(), stderr); }

}  // namespace gr::tool
