// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: main returns while its threads allocate and free; the program starts itself many times to see it often.
// Invariant: each time it exits with main's code, without a message.
// Must not know: what happens at exit.
#include "black_box.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <string>
#include <thread>

extern char **environ;

namespace {

constexpr int kRuns = 60;
constexpr int kThreads = 4;
constexpr int kExitCode = 17;

[[noreturn]] void allocate_for_ever(uint64_t seed) {
    gr::black_box::Sequence random(seed);
    void *blocks[64] = {};
    for (;;) {
        void *&slot = blocks[random.below(64)];
        std::free(slot);
        slot = std::malloc(random.below(std::size_t{16} << random.below(14)));
        GR_REQUIRE(slot != nullptr);
    }
}

int child() {
    for (uint64_t i = 0; i < kThreads; ++i) {
        std::thread(allocate_for_ever, i).detach();
    }
    void *block = nullptr;
    for (int i = 0; i < 2000; ++i) {
        std::free(block);
        block = gr::black_box::opaque(std::malloc(100));
    }
    return kExitCode;
}

int run(char *program) {
    char argument[] = "child";
    char *arguments[] = {program, argument, nullptr};
    pid_t process = 0;
    GR_REQUIRE(posix_spawn(&process, "/proc/self/exe", nullptr, nullptr, arguments, environ) == 0);
    int status = 0;
    GR_REQUIRE(waitpid(process, &status, 0) == process);
    return status;
}

}  // namespace

int main(int argc, char **argv) {
    gr::black_box::require_granary();
    if (argc > 1) {
        return child();
    }
    for (int i = 0; i < kRuns; ++i) {
        const int status = run(argv[0]);
        GR_REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == kExitCode);
    }
    return 0;
}
