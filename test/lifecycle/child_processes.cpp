// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: children made without fork's handlers: vfork, posix_spawn, _Fork and the raw system call.
// Invariant: the child may allocate until it execs or exits, and the parent's heap is whole afterwards.
// Must not know: what the library does at fork.
#include "black_box.hpp"

#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <csignal>
#include <vector>

extern char **environ;

namespace {

using gr::black_box::opaque;

constexpr int kRounds = 40;
constexpr int kChildCode = 9;

char child_argument[] = "child";
char *program_name = nullptr;

void use_heap() {
    for (std::size_t size = 1; size < 3'000'000; size = size * 2 + 1) {
        for (int i = 0; i < 20; ++i) {
            unsigned char *block = static_cast<unsigned char *>(std::malloc(size));
            GR_REQUIRE(block != nullptr);
            block[0] = 1;
            block[size - 1] = 2;
            std::free(opaque(block));
        }
    }
}

void expect_code(pid_t process) {
    GR_REQUIRE(process > 0);
    int status = 0;
    GR_REQUIRE(waitpid(process, &status, 0) == process);
    GR_REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == kChildCode);
}

[[noreturn]] void exec_child() {
    char *arguments[] = {program_name, child_argument, nullptr};
    execve("/proc/self/exe", arguments, environ);
    _exit(1);
}

void with_vfork() {
    const pid_t process = vfork();
    if (process == 0) {
        use_heap();
        exec_child();
    }
    expect_code(process);
}

void with_posix_spawn() {
    char *arguments[] = {program_name, child_argument, nullptr};
    pid_t process = 0;
    GR_REQUIRE(posix_spawn(&process, "/proc/self/exe", nullptr, nullptr, arguments, environ) == 0);
    expect_code(process);
}

void with_plain_fork() {
    const pid_t process = _Fork();
    if (process == 0) {
        use_heap();
        _exit(kChildCode);
    }
    expect_code(process);
}

void with_raw_clone() {
    const long process = syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
    if (process == 0) {
        use_heap();
        _exit(kChildCode);
    }
    expect_code(static_cast<pid_t>(process));
}

}  // namespace

int main(int argc, char **argv) {
    gr::black_box::require_granary();
    program_name = argv[0];
    if (argc > 1) {
        use_heap();
        return kChildCode;
    }
    std::vector<std::vector<int>> inherited;
    for (int i = 0; i < kRounds; ++i) {
        inherited.emplace_back(100 + i * 50, i);
        with_vfork();
        with_posix_spawn();
        with_plain_fork();
        with_raw_clone();
        use_heap();
    }
    for (int i = 0; i < kRounds; ++i) {
        GR_REQUIRE(inherited[static_cast<std::size_t>(i)].back() == i);
    }
    inherited.clear();
    gr::black_box::require_sound_heap();
    return 0;
}
