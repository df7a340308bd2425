// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/record/terminal.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "base/output.hpp"

namespace gr::tool {

Terminal::Terminal(bool quiet) : quiet_(quiet), shows_progress_(!quiet && ::isatty(STDERR_FILENO) == 1) {}

void Terminal::clear() {
    if (is_shown_) std::fputs("\r\033[K", stderr);
    is_shown_ = false;
}

void Terminal::show_progress(std::string_view line) {
    const std::lock_guard lock(mutex_);
    clear();
    std::fputs(fmt::format("granary: {}", line).c_str(), stderr);
    is_shown_ = true;
}

void Terminal::note(std::string_view line) {
    if (!quiet_) complain(line);
}

void Terminal::list(std::string_view lines) {
    if (quiet_) return;
    const std::lock_guard lock(mutex_);
    clear();
    std::fwrite(lines.data(), 1, lines.size(), stderr);
}

void Terminal::complain(std::string_view line) {
    const std::lock_guard lock(mutex_);
    clear();
    gr::tool::complain(line);
}

}  // namespace gr::tool
