// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/process/command_output.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "reading/process/spawning.hpp"

namespace gr::tool {

std::optional<std::string> output_of(const std::vector<std::string> &command, const std::vector<std::string> &variables,
                                     int descriptor) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
    const int other = descriptor == STDOUT_FILENO ? STDERR_FILENO : STDOUT_FILENO;
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], descriptor);
    ::posix_spawn_file_actions_addopen(&actions, other, "/dev/null", O_WRONLY, 0);
    const std::vector<char *> arguments = pointers_to(command);
    const std::vector<char *> environment = pointers_to(variables);
    pid_t child = -1;
    const int error = ::posix_spawn(&child, arguments.front(), &actions, nullptr, arguments.data(), environment.data());
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    std::string output = read_all(ends[0]);
    if (error != 0) return std::nullopt;
    int status = 0;
    while (::waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) return std::nullopt;
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
    return output;
}

}  // namespace gr::tool
