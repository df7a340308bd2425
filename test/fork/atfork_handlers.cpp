// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: fork handlers that allocate and free, registered before the allocator's own and after, while threads allocate.
// Invariant: neither parent nor child hangs, whatever the order in which libc calls the handlers.
// Must not know: when the allocator registers its handlers.

#include "child.hpp"
#include "program_options.hpp"
#include "shared_blocks.hpp"
#include "wait_child.hpp"

#include <thread>
#include <vector>

using namespace gr::test;

extern "C" int early_handlers_error();

namespace {

std::array<SharedBlocks, 4> shared;
std::atomic<bool> stopping = false;
std::array<void *, kClassCount> handler_blocks;

void allocate_in_prepare() {
    for (size_t number = 0; number < kClassCount; ++number) {
        handler_blocks[number] = std::malloc(largest_of_class(number));
        if (handler_blocks[number] == nullptr) fail("prepare: malloc(%zu): out of memory", largest_of_class(number));
        Pattern(handler_blocks[number], largest_of_class(number), 1).write(handler_blocks[number]);
    }
}

void free_after_fork() {
    for (size_t number = 0; number < kClassCount; ++number) {
        if (!Pattern(handler_blocks[number], largest_of_class(number), 1).matches(handler_blocks[number]))
            fail("process %d: a block from the prepare handler changed", getpid());
        std::free(handler_blocks[number]);
    }
}

}  // namespace

int main(int argc, char **argv) {
    require_granary();
    unsigned forks = 150;
    gr::bench::Options options("Forks with handlers that allocate.");
    options.number("--forks", forks, "how many children");
    if (!options.parse(argc, argv)) return options.exit_code();

    alarm(600);
    if (early_handlers_error() != 0 || pthread_atfork(allocate_in_prepare, free_after_fork, free_after_fork) != 0)
        fail("pthread_atfork: refused");
    std::vector<std::thread> threads;
    for (size_t number = 0; number < shared.size(); ++number)
        threads.emplace_back([number] {
            Random random(number + 1);
            while (!stopping.load(std::memory_order_relaxed)) shared[number].churn(random);
        });
    for (unsigned round = 0; round < forks; ++round) {
        const pid_t child = fork();
        if (child < 0) fail("fork %u: %s", round, std::strerror(errno));
        if (child == 0) {
            alarm(kHangSeconds);
            allocate_in_every_class(1);
            start_threads(1);
            _exit(0);
        }
        expect_child_success(child, round);
    }
    stopping = true;
    for (std::thread &thread : threads) thread.join();
    dprintf(STDOUT_FILENO, "atfork handlers: %u children\n", forks);
}
