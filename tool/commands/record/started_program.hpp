// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the program as a child of the recorder: started, waited for.
// Invariant: it has the environment, the signals and the descriptors that it would have without a recorder, and two
//    variables more. Its process exists, and waits, before it becomes the program.
// Must not know: what is recorded.
#pragma once

#include <signal.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gr::tool {

class StartedProgram {
  public:
    using Variables = std::vector<std::pair<std::string, std::string>>;

    // Throws Failure. The signals are those that the program has blocked.
    StartedProgram(const std::vector<std::string> &command, const Variables &variables, const sigset_t &signals);
    ~StartedProgram();
    StartedProgram(const StartedProgram &) = delete;
    StartedProgram &operator=(const StartedProgram &) = delete;

    [[nodiscard]] std::uint32_t process() const { return static_cast<std::uint32_t>(process_); }
    // It becomes the program. Throws Failure (kNotFound, kCannotInvoke) where it cannot.
    void go();
    // As wait(2) has it, once it has ended.
    [[nodiscard]] std::optional<int> status();

  private:
    [[noreturn]] static void become(const std::vector<std::string> &command, const Variables &variables,
                                    const sigset_t &signals, int go, int error);

    std::string name_;
    pid_t process_ = -1;
    int go_ = -1;
    int error_ = -1;
    std::optional<int> status_;
};

}  // namespace gr::tool
