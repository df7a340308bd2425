// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a parent forks again and again while one thread reads long lines, which allocates with a stream locked, and
//    another flushes all streams, which waits for each with their list locked. fork wants the list, too.
// Invariant: neither parent nor child hangs: the heap is locked after the list.
// Must not know: how the library survives fork.

#include "pattern.hpp"
#include "program_options.hpp"
#include "require.hpp"
#include "wait_child.hpp"

#include <atomic>
#include <cstdio>
#include <string>
#include <thread>

using namespace gr::test;

namespace {

constexpr unsigned kParentSeconds = 600;
constexpr size_t kLineBytes = size_t{100} << 10;  // read in buffers that grow beyond what magazines hold

std::atomic<bool> stopping = false;

void read_lines(FILE *stream) {
    while (!stopping.load(std::memory_order_relaxed)) {
        char *line = nullptr;
        size_t size = 0;
        const ssize_t got = getline(&line, &size, stream);
        if (got >= 0 && static_cast<size_t>(got) != kLineBytes) fail("getline: %zd bytes", got);
        if (got < 0) std::rewind(stream);
        std::free(line);
    }
}

void flush_streams() {
    while (!stopping.load(std::memory_order_relaxed)) std::fflush(nullptr);
}

[[noreturn]] void be_child() {
    alarm(kHangSeconds);
    std::fflush(nullptr);
    FILE *stream = std::tmpfile();
    if (stream == nullptr) fail("child %d: tmpfile: %s", getpid(), std::strerror(errno));
    std::fclose(stream);
    _exit(0);
}

}  // namespace

int main(int argc, char **argv) {
    require_granary();
    unsigned forks = 300;
    gr::bench::Options options("Forks while threads read and flush streams.");
    options.number("--forks", forks, "how many children");
    if (!options.parse(argc, argv)) return options.exit_code();

    alarm(kParentSeconds);
    FILE *stream = std::tmpfile();
    if (stream == nullptr) fail("tmpfile: %s", std::strerror(errno));
    const std::string line = std::string(kLineBytes - 1, 'x') + '\n';
    for (int number = 0; number < 4; ++number) std::fwrite(line.data(), 1, line.size(), stream);
    if (std::fflush(stream) != 0) fail("fflush: %s", std::strerror(errno));
    std::rewind(stream);
    std::thread reader(read_lines, stream);
    std::thread flusher(flush_streams);
    for (unsigned round = 0; round < forks; ++round) {
        const pid_t child = fork();
        if (child < 0) fail("fork %u: %s", round, std::strerror(errno));
        if (child == 0) be_child();
        expect_child_success(child, round);
    }
    stopping = true;
    reader.join();
    flusher.join();
    dprintf(STDOUT_FILENO, "streams: %u children\n", forks);
}
