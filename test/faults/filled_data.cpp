// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how many blocks a process gets under a limit on data (ulimit -d), beside the system's malloc.
// Invariant: at least nine tenths as many.
// Must not know: what the library needs besides.
#include <sys/resource.h>
#include <sys/wait.h>
#include <array>
#include <string>

#include "require.hpp"

using namespace gr::test;

namespace {

constexpr size_t kBlock = size_t{1} << 20;
constexpr double kLeastPart = 0.9;

size_t fill() {
    size_t blocks = 0;
    while (void *const block = std::malloc(kBlock)) {
        std::memset(block, 1, kBlock);
        ++blocks;
    }
    return blocks;
}

size_t filled_by(const char *self, const char *library, rlim_t limit) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) fail("pipe");
    const pid_t child = fork();
    if (child == 0) {
        const rlimit data{limit, limit};
        dup2(ends[1], STDOUT_FILENO);
        if (setrlimit(RLIMIT_DATA, &data) != 0 || (library != nullptr && setenv("LD_PRELOAD", library, 1) != 0))
            _exit(1);
        execl(self, self, "fill", nullptr);
        _exit(1);
    }
    close(ends[1]);
    std::array<char, 32> said{};
    const ssize_t size = read(ends[0], said.data(), said.size() - 1);
    close(ends[0]);
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0 || size <= 0)
        fail("the child that fills: status %d", status);
    return std::stoul(said.data());
}

}  // namespace

int main(int argc, char **argv) {
    if (argc == 2) {
        const size_t blocks = fill();
        dprintf(STDOUT_FILENO, "%zu\n", blocks);
        return 0;
    }
    if (argc != 3) fail("usage: filled_data LIBRARY MEBIBYTES");
    const rlim_t limit = std::stoul(argv[2]) * kBlock;
    const size_t system = filled_by(argv[0], nullptr, limit);
    const size_t ours = filled_by(argv[0], argv[1], limit);
    if (static_cast<double>(ours) < kLeastPart * static_cast<double>(system))
        fail("%zu blocks of 1 MiB, %zu on the system's malloc", ours, system);
    return 0;
}
