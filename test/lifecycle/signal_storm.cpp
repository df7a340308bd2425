// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: four threads whose signal handlers allocate blocks of every kind, wherever in malloc they strike.
// Invariant: no hang and no abort, although handlers enter the slow paths that their own thread is inside of.
// Must not know: which locks there are. Signals are sent by a fifth thread, in a fixed number.
#include <pthread.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>

#include "black_box.hpp"

namespace {

using gr::black_box::opaque;
using gr::black_box::Sequence;

constexpr int kThreads = 4;
constexpr int kSignals = 8'000;
constexpr std::size_t kKept = 400;

std::atomic<bool> stop{false};
std::atomic<uint64_t> handler_runs{0};

std::size_t some_size(Sequence &random) {
    const uint64_t kind = random.below(100);
    if (kind < 90) return 1 + random.below(2000);
    return kind < 99 ? random.below(30'000) : random.below(300'000);
}

void handler(int) {
    const int kept_errno = errno;
    Sequence random(handler_runs.fetch_add(1, std::memory_order_relaxed));
    std::array<unsigned char *, 3> blocks;
    for (unsigned char *&block : blocks) {
        block = static_cast<unsigned char *>(std::malloc(some_size(random)));
        GR_REQUIRE(block != nullptr);
        *block = 1;
    }
    for (unsigned char *block : blocks) std::free(opaque(block));
    errno = kept_errno;
}

// Bursts of one class fill and empty whole superblocks; single blocks of many classes keep every part busy.
void *churn(void *seed) {
    Sequence random(reinterpret_cast<uint64_t>(seed));
    std::array<void *, kKept> kept{};
    while (!stop) {
        if (random.below(50) == 0) {
            const std::size_t size = some_size(random);
            for (void *&block : kept) {
                std::free(block);
                block = std::malloc(size);
                GR_REQUIRE(block != nullptr);
            }
        }
        void *&slot = kept[random.below(kKept)];
        std::free(slot);
        slot = std::malloc(some_size(random));
        GR_REQUIRE(slot != nullptr);
    }
    for (void *block : kept) std::free(block);
    return nullptr;
}

}  // namespace

int main() {
    gr::black_box::require_granary();
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    GR_REQUIRE(sigaction(SIGUSR1, &action, nullptr) == 0);
    std::array<pthread_t, kThreads> threads;
    for (std::size_t i = 0; i < kThreads; ++i) {
        GR_REQUIRE(pthread_create(&threads[i], nullptr, churn, reinterpret_cast<void *>(i + 1)) == 0);
    }
    for (int i = 0; i < kSignals; ++i) {
        GR_REQUIRE(pthread_kill(threads[static_cast<std::size_t>(i) % kThreads], SIGUSR1) == 0);
        if (i % 16 == 0) sched_yield();
    }
    stop = true;
    for (pthread_t thread : threads) GR_REQUIRE(pthread_join(thread, nullptr) == 0);
    GR_REQUIRE(handler_runs > 0);
    gr::black_box::require_sound_heap();
    return 0;
}
