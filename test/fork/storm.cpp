// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a parent forks again and again while eight of its threads allocate; each child uses its heap at once.
// Invariant: in the child no block is lost: what it frees leaves the live bytes to the byte, and what then remains is
//    no more than the parent had before plus the blocks that were in flight.
// Must not know: how the library survives fork.

#include "child.hpp"
#include "program_options.hpp"
#include "shared_blocks.hpp"
#include "wait_child.hpp"

#include <malloc.h>
#include <sys/resource.h>
#include <thread>
#include <vector>

using namespace gr::test;

namespace {

constexpr size_t kThreads = 8;

std::array<SharedBlocks, kThreads> shared;
std::atomic<size_t> started = 0;
std::atomic<bool> running = false;
std::atomic<bool> stopping = false;

void allocate_for_ever(size_t number) {
    Random random(number + 1);
    // The forking thread goes first, else every round waits for its turn on a busy CPU.
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 10);
    started.fetch_add(1);
    while (!stopping.load()) {
        running.wait(false);
        while (running.load(std::memory_order_relaxed) && !stopping.load(std::memory_order_relaxed))
            shared[number].churn(random);
    }
}

void set_running(bool value) {
    running.store(value);
    running.notify_all();
}

uint64_t free_inherited(uint64_t &count) {
    uint64_t bytes = 0;
    for (SharedBlocks &blocks : shared)
        bytes += blocks.free_all(count, [](void *block) { return malloc_usable_size(block); });
    return bytes;
}

// A thread of the library's own counts on, too, and has blocks in flight.
bool is_alone() { return std::getenv("GRANARY_BACKGROUND") == nullptr; }

// The child has one thread, so between two snapshots only its own frees count.
void free_inherited_and_count(const gr_statistics &before, uint64_t blocks_at_rest) {
    require_counting_equation(before);
    uint64_t freed_blocks = 0;
    const uint64_t freed_bytes = free_inherited(freed_blocks);
    const gr_statistics after = *statistics();
    require_counting_equation(after);
    if (before.live_bytes - after.live_bytes != freed_bytes || before.live_blocks - after.live_blocks != freed_blocks)
        fail("child %d: freed %lu blocks of %lu bytes, but the statistics fell by %ld blocks and %ld bytes", getpid(),
             freed_blocks, freed_bytes, static_cast<long>(before.live_blocks - after.live_blocks),
             static_cast<long>(before.live_bytes - after.live_bytes));
    const uint64_t allowed = blocks_at_rest + kThreads * SharedBlocks::kInFlight;
    if (after.live_blocks > allowed)
        fail("child %d: %lu blocks are live after freeing all; %lu at most can be: the others are lost", getpid(),
             after.live_blocks, allowed);
}

[[noreturn]] void be_child(uint64_t blocks_at_rest) {
    alarm(kHangSeconds);
    allocate_in_every_class(1);
    const std::optional<gr_statistics> before = statistics();
    if (before && is_alone()) {
        free_inherited_and_count(*before, blocks_at_rest);
    } else {
        uint64_t count = 0;
        free_inherited(count);
    }
    allocate_in_every_class(2);
    start_threads(2);
    _exit(0);
}

// Forks amid allocations; the threads rest only while the child runs, so that it need not wait for a CPU.
void fork_once(Random &random, unsigned round, uint64_t blocks_at_rest) {
    set_running(true);
    const timespec pause = {0, static_cast<long>(random.below(400000))};
    nanosleep(&pause, nullptr);
    const pid_t child = fork();
    if (child < 0) fail("fork %u: %s", round, std::strerror(errno));
    if (child == 0) be_child(blocks_at_rest);
    set_running(false);
    expect_child_success(child, round);
}

}  // namespace

int main(int argc, char **argv) {
    require_granary();
    unsigned forks = 600;
    gr::bench::Options options("Forks while eight threads allocate.");
    options.number("--forks", forks, "how many children");
    if (!options.parse(argc, argv)) return options.exit_code();

    std::vector<std::thread> threads;
    for (size_t number = 0; number < kThreads; ++number) threads.emplace_back(allocate_for_ever, number);
    while (started.load() < kThreads) sched_yield();
    const std::optional<gr_statistics> rest = statistics();
    const uint64_t blocks_at_rest = rest ? rest->live_blocks : 0;
    Random random(3);
    for (unsigned round = 0; round < forks; ++round) fork_once(random, round, blocks_at_rest);
    stopping = true;
    set_running(true);
    for (std::thread &thread : threads) thread.join();
    uint64_t left = 0;
    free_inherited(left);
    dprintf(STDOUT_FILENO, "fork storm: %u children, %lu blocks left in the parent\n", forks, left);
}
