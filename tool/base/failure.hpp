// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how the command ends: its exit codes, and the exception that carries one of them with one line of text.
// Invariant: a Failure's text is one line: what happened, where, what to do.
// Must not know: what any subcommand does.
#pragma once

#include <stdexcept>
#include <string>

namespace gr::tool {

// The upper three are those of env(1) and nohup(1), so that scripts need not tell `granary run` from them.
enum class ExitCode : int {
    success = 0,
    not_runnable = 1,
    usage = 2,
    tool_failure = 125,
    cannot_invoke = 126,
    not_found = 127,
};

class Failure : public std::runtime_error {
  public:
    Failure(ExitCode code, const std::string &line) : std::runtime_error(line), code_(code) {}
    [[nodiscard]] ExitCode code() const noexcept { return code_; }

  private:
    ExitCode code_;
};

}  // namespace gr::tool
