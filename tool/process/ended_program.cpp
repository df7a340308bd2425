// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "process/ended_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "base/failure.hpp"
#include "base/text.hpp"

namespace gr::tool {

namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

// This process' environment with the variables in place of those of the same name.
std::vector<std::string> environment_with(const Variables &variables) {
    std::vector<std::string> all;
    for (char **entry = environ; *entry != nullptr; ++entry) {
        const std::string_view kept = *entry;
        const auto replaces = [&](const auto &one) { return kept.substr(0, kept.find('=')) == one.first; };
        bool is_replaced = false;
        for (const auto &one : variables) is_replaced = is_replaced || replaces(one);
        if (!is_replaced) all.emplace_back(kept);
    }
    for (const auto &[name, value] : variables) all.push_back(fmt::format("{}={}", name, value));
    return all;
}

// As the kernel wants them.
std::vector<char *> pointers_to(const std::vector<std::string> &words) {
    std::vector<char *> pointers;
    pointers.reserve(words.size() + 1);
    for (const std::string &word : words) pointers.push_back(const_cast<char *>(word.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

// Reads to the end and closes.
std::string read_all(int file) {
    std::string result;
    std::array<char, 4096> part{};
    for (;;) {
        const ssize_t count = ::read(file, part.data(), part.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        result.append(part.data(), static_cast<std::size_t>(count));
    }
    ::close(file);
    return result;
}

// SIGINT and SIGQUIT pass by this process while the child runs.
class DeafToKeys {
  public:
    DeafToKeys() : interrupt_(::signal(SIGINT, SIG_IGN)), quit_(::signal(SIGQUIT, SIG_IGN)) {}
    ~DeafToKeys() {
        ::signal(SIGINT, interrupt_);
        ::signal(SIGQUIT, quit_);
    }
    DeafToKeys(const DeafToKeys &) = delete;
    DeafToKeys &operator=(const DeafToKeys &) = delete;

  private:
    sighandler_t interrupt_;
    sighandler_t quit_;
};

}  // namespace

EndedProgram run_to_end(const std::vector<std::string> &command, const Variables &variables, StandardError errors) {
    const std::vector<std::string> environment = environment_with(variables);
    std::array<int, 2> ends{-1, -1};
    if (errors == StandardError::kKept && ::pipe2(ends.data(), O_CLOEXEC) != 0)
        throw Failure(ExitCode::kToolFailure,
                      fmt::format("cannot create a pipe: {}", std::generic_category().message(errno)));
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    if (errors == StandardError::kKept) ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    pid_t child = -1;
    const int error = ::posix_spawnp(&child, command.front().c_str(), &actions, nullptr, pointers_to(command).data(),
                                     pointers_to(environment).data());
    ::posix_spawn_file_actions_destroy(&actions);
    if (errors == StandardError::kKept) ::close(ends[1]);
    EndedProgram ended;
    const DeafToKeys deaf;
    if (errors == StandardError::kKept) ended.errors = read_all(ends[0]);
    if (error != 0) {
        throw Failure(error == ENOENT ? ExitCode::kNotFound : ExitCode::kCannotInvoke,
                      fmt::format("{}: {}", in_quotes(command.front()), std::generic_category().message(error)));
    }
    while (::waitpid(child, &ended.status, 0) < 0) {
        if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
    }
    return ended;
}

}  // namespace gr::tool
