// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: see child.hpp.
// Invariant: see child.hpp.
// Must not know: see child.hpp.
#include "child.hpp"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace gr::fuzz {

namespace {

class MemoryFile {
  public:
    explicit MemoryFile(const char *name) : descriptor_(memfd_create(name, MFD_CLOEXEC)) {
        if (descriptor_ < 0) throw std::runtime_error("cannot create a memory file; free some memory");
    }
    ~MemoryFile() { close(descriptor_); }
    MemoryFile(const MemoryFile &) = delete;
    MemoryFile &operator=(const MemoryFile &) = delete;

    int descriptor() const { return descriptor_; }

    void write(std::span<const std::uint8_t> bytes) const {
        const ssize_t done = pwrite(descriptor_, bytes.data(), bytes.size(), 0);
        if (done != static_cast<ssize_t>(bytes.size())) throw std::runtime_error("cannot fill a memory file");
    }

    std::string read() const {
        std::string text(4096, '\0');
        const ssize_t done = pread(descriptor_, text.data(), text.size(), 0);
        text.resize(static_cast<std::size_t>(std::max(done, ssize_t{0})));
        while (!text.empty() && text.back() == '\n') text.pop_back();
        std::replace(text.begin(), text.end(), '\n', ';');
        return text;
    }

  private:
    int descriptor_;
};

std::vector<char *> environment_with(std::string &preload) {
    std::vector<char *> variables;
    for (char **variable = environ; *variable != nullptr; ++variable) {
        if (std::strncmp(*variable, "LD_PRELOAD=", 11) != 0 || preload.empty()) variables.push_back(*variable);
    }
    if (!preload.empty()) variables.push_back(preload.data());
    variables.push_back(nullptr);
    return variables;
}

class Actions {
  public:
    Actions(int input, int output) {
        posix_spawn_file_actions_init(&actions_);
        posix_spawn_file_actions_adddup2(&actions_, input, STDIN_FILENO);
        posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&actions_, output, STDERR_FILENO);
    }
    ~Actions() { posix_spawn_file_actions_destroy(&actions_); }
    Actions(const Actions &) = delete;
    Actions &operator=(const Actions &) = delete;
    const posix_spawn_file_actions_t *get() const { return &actions_; }

  private:
    posix_spawn_file_actions_t actions_{};
};

}  // namespace

ChildEnd run_child(std::span<const std::uint8_t> bytes, const std::string &allocator) {
    const MemoryFile input("fuzz-input");
    const MemoryFile output("fuzz-output");
    input.write(bytes);
    std::string arguments[] = {"fuzz", "--replay", "/dev/stdin", "--on", allocator};
    std::vector<char *> argv;
    for (std::string &argument : arguments) argv.push_back(argument.data());
    if (allocator.empty()) argv.resize(3);
    argv.push_back(nullptr);
    std::string preload = allocator.empty() ? "" : "LD_PRELOAD=" + allocator;
    const std::vector<char *> variables = environment_with(preload);

    pid_t child = 0;
    const Actions actions(input.descriptor(), output.descriptor());
    const int error = posix_spawn(&child, "/proc/self/exe", actions.get(), nullptr, argv.data(), variables.data());
    if (error != 0) throw std::runtime_error(std::string("cannot start a child: ") + std::strerror(error));
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 0, WIFSIGNALED(status) ? WTERMSIG(status) : 0, output.read()};
}

}  // namespace gr::fuzz
