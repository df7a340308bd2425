// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: what does an allocator add to the life of a process that hardly allocates?
//    Source: our own. A program, /bin/true unless another is named, is started with the environment of this
//    one, so that the preloaded allocator is inherited, and waited for; a thousand times unless told otherwise.
//    An operation is one start with the wait for its end.
// Invariant: the loop itself allocates nothing; verifies that each program ended with exit code 0.
// Must not know: which malloc it runs on.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

#include "workload.hpp"

namespace {

using namespace gr::bench;

void start(char *program) {
    char *const arguments[] = {program, nullptr};
    pid_t child = 0;
    if (const int error = posix_spawn(&child, program, nullptr, nullptr, arguments, environ))
        fail("tiny-start: %s: %s", program, std::strerror(error));
    int status = 0;
    if (waitpid(child, &status, 0) != child) fail("tiny-start: waitpid: %s", std::strerror(errno));
    if (status != 0) fail("tiny-start: %s ended with wait status %d", program, status);
}

}  // namespace

int main(int argc, char **argv) {
    std::string program = "/bin/true";
    Workload tiny_start("tiny-start", "Starts a small program again and again.", {.threads = 1, .operations = 1000});
    tiny_start.options().file("--program", program, "path of what is started");
    if (!tiny_start.parse(argc, argv)) return tiny_start.exit_code();
    tiny_start.run([&](Worker &worker) {
        for (; worker.more(); worker.did(1)) start(program.data());
    });
    return tiny_start.report();
}
