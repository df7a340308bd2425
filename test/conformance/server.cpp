// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      a process that allocates, says so, and waits for the end of its standard input; for statistics_file.py.
//            "children": so do two children of it, which end by exit.
// Invariant: it ends by a return from main.
// Must not know: what is written about it meanwhile.
#include "black_box.hpp"

#include <sys/wait.h>

using namespace gr::black_box;

namespace {

constexpr std::size_t kBlocks = 2000;
void *blocks[kBlocks];

// As many slow paths as the library wants to see before it starts a thread.
void allocate() {
    for (std::size_t i = 0; i < kBlocks; ++i) blocks[i] = opaque(std::malloc(16 * (i + 1)));
}

void serve() {
    allocate();
    say(STDOUT_FILENO, "%d\n", getpid());
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0) {
    }
}

}  // namespace

int main(int argc, char **argv) {
    require_granary();
    const bool has_children = argc == 2 && std::strcmp(argv[1], "children") == 0;
    for (int i = 0; has_children && i < 2; ++i) {
        const pid_t child = fork();
        if (child < 0) return 1;
        if (child == 0) {
            serve();
            return 0;
        }
    }
    serve();
    for (int i = 0; has_children && i < 2; ++i) {
        int status = 0;
        if (wait(&status) < 0 || status != 0) return 1;
    }
    return 0;
}
