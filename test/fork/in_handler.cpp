// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a sibling storms the main thread with SIGUSR1; the handler, which often interrupts malloc or free, forks.
// Invariant: fork never hangs and the parent's handler can allocate. A child forked inside malloc or free may do what
//    POSIX allows it, and ends; one forked outside can allocate, and every second of them returns from the
//    handler and goes on as its parent does.
// Must not know: which instruction was interrupted.
//
// Why a child that goes on cannot hang: the parent's thread was outside malloc, so its fork took all of malloc's locks,
// and the child has them. A child that was forked inside malloc must not go on. The interrupted call may wait for a lock
// that another thread holds, and the child does not have that thread. So `inside_heap` must tell of every malloc, realloc
// and free of the main thread while signals come.
#include "child.hpp"
#include "program_options.hpp"
#include "wait_child.hpp"

#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

using namespace gr::test;

namespace {

std::atomic<bool> stopping = false;
std::atomic<unsigned> forks = 0;
volatile sig_atomic_t returning_child = 0;
volatile sig_atomic_t inside_heap = 0;
volatile sig_atomic_t forks_inside = 0;

void allocate_a_little() {
    std::array<void *, 64> blocks = {};
    for (size_t number = 0; number < blocks.size(); ++number) {
        const size_t size = largest_of_class(number % kClassCount);
        blocks[number] = std::malloc(size);
        if (blocks[number] == nullptr) fail("process %d: malloc(%zu) in the handler: out of memory", getpid(), size);
        std::memset(blocks[number], 0x33, size);
    }
    for (void *block : blocks) std::free(block);
}

// Returns only when the child is to go on outside the handler.
void be_child(unsigned round, bool inside) {
    alarm(kHangSeconds);
    if (inside) _exit(getpid() == getppid() ? 1 : 0);
    allocate_a_little();
    if (round % 2 == 0) _exit(0);
    returning_child = 1;
}

void on_signal(int) {
    const int saved_errno = errno;
    const bool inside = inside_heap != 0;
    const unsigned round = forks.load();
    const pid_t child = fork();
    if (child < 0) fail("fork %u in the handler: %s", round, std::strerror(errno));
    if (child == 0) {
        be_child(round, inside);
    } else {
        allocate_a_little();
        expect_child_success(child, round);
        forks_inside = forks_inside + (inside ? 1 : 0);
        forks.store(round + 1);
    }
    errno = saved_errno;
}

// Refills, flushes, runs and realloc, so that signals find locks held.
void *replace(void *block, size_t size, bool resize) {
    if (resize) return std::realloc(block, size);
    std::free(block);
    return std::malloc(size);
}

void churn(Random &random, std::array<void *, 512> &places, volatile sig_atomic_t &inside) {
    void *&place = places[random.below(places.size())];
    const size_t size = kSizes[random.below(kClassSizes + 2)];
    const bool resize = random.below(4) == 0;
    inside = 1;
    place = replace(place, size, resize);
    inside = 0;
    if (place == nullptr) fail("process %d: no block of %zu bytes: out of memory", getpid(), size);
    std::memset(place, 0x77, size);
}

void finish_in_child(Random &random, std::array<void *, 512> &places) {
    for (int turn = 0; turn < 1000; ++turn) churn(random, places, inside_heap);
    for (void *block : places) std::free(block);
    _exit(0);
}

void block_signal() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

// Waits until a signal was handled before it sends the next, after a pause of changing length.
void storm(pthread_t target, unsigned wanted) {
    block_signal();
    Random random(99);
    while (forks.load() < wanted) {
        const unsigned before = forks.load();
        pthread_kill(target, SIGUSR1);
        while (forks.load() == before) sched_yield();
        const timespec pause = {0, static_cast<long>(random.below(200000))};
        nanosleep(&pause, nullptr);
    }
    stopping = true;
}

void allocate_beside(size_t seed) {
    block_signal();
    Random random(seed);
    std::array<void *, 512> places = {};
    volatile sig_atomic_t inside = 0;
    while (!stopping.load(std::memory_order_relaxed)) churn(random, places, inside);
    for (void *block : places) std::free(block);
}

}  // namespace

int main(int argc, char **argv) {
    require_granary();
    unsigned wanted = 300;
    gr::bench::Options options("Forks inside a signal handler that interrupts malloc.");
    options.number("--forks", wanted, "how many children");
    if (!options.parse(argc, argv)) return options.exit_code();

    struct sigaction action = {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, nullptr);
    Random random(5);
    std::array<void *, 512> places = {};
    std::vector<std::thread> threads;
    // Signals come from the last thread's start on. A vector that grew then would free its old storage while
    // `inside_heap` is 0, and a child forked there would wait for ever.
    threads.reserve(3);
    threads.emplace_back(allocate_beside, 11);
    threads.emplace_back(allocate_beside, 12);
    threads.emplace_back(storm, pthread_self(), wanted);
    while (!stopping.load(std::memory_order_relaxed)) {
        churn(random, places, inside_heap);
        if (returning_child != 0) finish_in_child(random, places);
    }
    for (std::thread &thread : threads) thread.join();
    for (void *block : places) std::free(block);
    dprintf(STDOUT_FILENO, "fork in handler: %u children, %d of them inside malloc or free\n", forks.load(),
            forks_inside);
    if (forks_inside == 0 || static_cast<unsigned>(forks_inside) == forks.load())
        fail("fork in handler: the signals never came inside the heap, or never outside");
}
