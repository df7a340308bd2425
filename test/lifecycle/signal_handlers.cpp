// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a 10 kHz timer whose handler allocates and frees, while main and a second thread do the same.
// Invariant: no hang, no abort, and no block is handed out twice: each carries its owner's mark while it is out.
// Must not know: where in malloc the signal strikes.
#include "black_box.hpp"

#include <atomic>
#include <csignal>
#include <ctime>
#include <thread>

namespace {

using gr::black_box::opaque;

constexpr long kPeriodNanoseconds = 100'000;
constexpr int kHandlerRuns = 4000;
constexpr int kIterations = 300'000;
constexpr std::size_t kSize = 64;

std::atomic<int> handler_runs{0};

// Marks the block while it is out; another owner would see this mark or leave another one.
void allocate_and_free(uint64_t mark) {
    volatile uint64_t *block = static_cast<uint64_t *>(std::malloc(kSize));
    GR_REQUIRE(block != nullptr);
    for (std::size_t i = 0; i < kSize / sizeof *block; ++i) {
        block[i] = mark;
    }
    for (std::size_t i = 0; i < kSize / sizeof *block; ++i) {
        GR_REQUIRE(block[i] == mark);
    }
    std::free(const_cast<uint64_t *>(block));
}

void handler(int) {
    const uint64_t run = static_cast<uint64_t>(handler_runs.fetch_add(1, std::memory_order_relaxed));
    allocate_and_free(~run);
}

// Small blocks through the magazines; every so often enough of them, and larger ones, to enter the slow paths.
void iterate(int i) {
    allocate_and_free(static_cast<uint64_t>(i));
    if (i % 64 == 0) {
        void *blocks[300];
        for (void *&block : blocks) {
            block = std::malloc(kSize);
        }
        for (void *block : blocks) {
            std::free(block);
        }
        std::free(opaque(std::malloc(20000)));
        std::free(opaque(std::malloc(200000)));
    }
}

timer_t start_timer() {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    GR_REQUIRE(sigaction(SIGUSR1, &action, nullptr) == 0);
    struct sigevent event {};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGUSR1;
    timer_t timer;
    GR_REQUIRE(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    const struct itimerspec period {
        {0, kPeriodNanoseconds}, { 0, kPeriodNanoseconds }
    };
    GR_REQUIRE(timer_settime(timer, 0, &period, nullptr) == 0);
    return timer;
}

}  // namespace

int main() {
    gr::black_box::require_granary();
    const timer_t timer = start_timer();
    std::atomic<bool> stop{false};
    std::thread second([&stop] {
        for (int i = 0; !stop; ++i) {
            iterate(i);
        }
    });
    for (int i = 0; i < kIterations || handler_runs < kHandlerRuns; ++i) {
        iterate(i);
    }
    GR_REQUIRE(timer_delete(timer) == 0);
    stop = true;
    second.join();
    gr::black_box::require_sound_heap();
    return 0;
}
