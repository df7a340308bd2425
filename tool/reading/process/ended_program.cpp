// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/process/ended_program.hpp"

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
#include "reading/process/spawning.hpp"

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

// This process ignores SIGINT and SIGQUIT, which the keys send to the child, too, while the child runs.
class IgnoredKeys {
  public:
    IgnoredKeys() : interrupt_(::signal(SIGINT, SIG_IGN)), quit_(::signal(SIGQUIT, SIG_IGN)) {}
    ~IgnoredKeys() {
        ::signal(SIGINT, interrupt_);
        ::signal(SIGQUIT, quit_);
    }
    IgnoredKeys(const IgnoredKeys &) = delete;
    IgnoredKeys &operator=(const IgnoredKeys &) = delete;

  private:
    sighandler_t interrupt_;
    sighandler_t quit_;
};

}  // namespace

EndedProgram run_to_end(const std::vector<std::string> &command, const Variables &variables, StandardError errors) {
    const std::vector<std::string> environment = environment_with(variables);
    std::array<int, 2> ends{-1, -1};
    if (errors == StandardError::kept && ::pipe2(ends.data(), O_CLOEXEC) != 0)
        throw Failure(ExitCode::tool_failure,
                      fmt::format("cannot create a pipe: {}", std::generic_category().message(errno)));
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    if (errors == StandardError::kept) ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    pid_t child = -1;
    const int error = ::posix_spawnp(&child, command.front().c_str(), &actions, nullptr, pointers_to(command).data(),
                                     pointers_to(environment).data());
    ::posix_spawn_file_actions_destroy(&actions);
    if (errors == StandardError::kept) ::close(ends[1]);
    EndedProgram ended;
    const IgnoredKeys keys;
    if (errors == StandardError::kept) ended.errors = read_all(ends[0]);
    if (error != 0) {
        throw Failure(error == ENOENT ? ExitCode::not_found : ExitCode::cannot_invoke,
                      fmt::format("{}: {}", in_quotes(command.front()), std::generic_category().message(error)));
    }
    while (::waitpid(child, &ended.status, 0) < 0) {
        if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
    }
    return ended;
}

}  // namespace gr::tool
