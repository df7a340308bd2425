// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/record/started_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "base/variables.hpp"

namespace gr::tool {

namespace {

[[noreturn]] void fail(const char *what) {
    throw Failure(ExitCode::tool_failure,
                  fmt::format("cannot start a process: {}: {}", what, std::generic_category().message(errno)));
}

std::array<int, 2> make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe");
    return ends;
}

}  // namespace

StartedProgram::StartedProgram(const std::vector<std::string> &command, const Variables &variables,
                               const sigset_t &signals)
    : name_(command.front()) {
    const std::array<int, 2> go = make_pipe();
    const std::array<int, 2> error = make_pipe();
    process_ = ::fork();
    if (process_ < 0) fail("fork");
    if (process_ == 0) {
        ::close(go[1]);
        become(command, variables, signals, go[0], error[1]);
    }
    ::close(go[0]);
    ::close(error[1]);
    go_ = go[1];
    error_ = error[0];
}

StartedProgram::~StartedProgram() {
    if (go_ >= 0) ::close(go_);
    if (error_ >= 0) ::close(error_);
}

void StartedProgram::become(const std::vector<std::string> &command, const Variables &variables,
                            const sigset_t &signals, int go, int error) {
    char word = 0;
    if (::read(go, &word, 1) != 1) ::_exit(0);  // the recorder gave up
    for (const auto &[name, value] : variables) set_variable(name.c_str(), value);
    ::signal(SIGXFSZ, SIG_DFL);
    ::pthread_sigmask(SIG_SETMASK, &signals, nullptr);
    std::vector<char *> words;
    words.reserve(command.size() + 1);
    for (const std::string &each : command) words.push_back(const_cast<char *>(each.c_str()));
    words.push_back(nullptr);
    ::execvp(words.front(), words.data());
    const int number = errno;
    const ssize_t told = ::write(error, &number, sizeof number);
    ::_exit(told == sizeof number ? 0 : 1);
}

void StartedProgram::go() {
    const char word = 1;
    if (::write(go_, &word, 1) != 1) fail("pipe");
    int error = 0;
    ssize_t size = 0;
    do size = ::read(error_, &error, sizeof error);
    while (size < 0 && errno == EINTR);
    if (size != sizeof error) return;
    ::waitpid(process_, nullptr, 0);
    throw Failure(error == ENOENT ? ExitCode::not_found : ExitCode::cannot_invoke,
                  fmt::format("{}: {}", in_quotes(name_), std::generic_category().message(error)));
}

std::optional<int> StartedProgram::status() {
    int status = 0;
    if (!status_ && ::waitpid(process_, &status, WNOHANG) == process_) status_ = status;
    return status_;
}

}  // namespace gr::tool
