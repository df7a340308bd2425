// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: forks while other threads are in a library that allocates under a lock which its fork handlers take.
// Invariant: neither parent nor child hangs: fork takes the library's lock before the allocator's.
// Must not know: when the allocator registers its handlers.

#include "wait_child.hpp"

#include <atomic>
#include <thread>
#include <vector>

using namespace gr::test;

extern "C" int locking_library_error();
extern "C" void locking_library_work();

int main(int argc, char **argv) {
    constexpr unsigned kThreads = 2;
    const unsigned long forks = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 200;
    require_granary();
    if (locking_library_error() != 0) fail("pthread_atfork: refused");
    alarm(110);
    std::atomic<bool> stopping = false;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < kThreads; ++i) {
        threads.emplace_back([&] {
            while (!stopping.load(std::memory_order_relaxed)) locking_library_work();
        });
    }
    for (unsigned round = 0; round < forks; ++round) {
        const pid_t child = fork();
        if (child < 0) fail("fork %u: %s", round, std::strerror(errno));
        if (child == 0) {
            alarm(kHangSeconds);
            locking_library_work();
            _exit(0);
        }
        expect_child_success(child, round);
    }
    stopping = true;
    for (std::thread &thread : threads) thread.join();
}
