// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how far the heap grows while the collecting thread waits for the loader's list of libraries, which another thread
//    has; nothing lives, and what is freed may wait.
// Invariant: the heap stays below four times what it was before; the thread that has the list gets memory all the same.
// Must not know: when it is collected; how threads wait.
#include "black_box.hpp"

#include <link.h>
#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <atomic>

using namespace gr::black_box;

namespace {

constexpr unsigned kThreads = 16;
constexpr unsigned kHolds = 4;
constexpr unsigned kRounds = 20;
constexpr unsigned kQuietRounds = 40;
constexpr unsigned kBlocks = 300;
constexpr std::uint64_t kTimes = 4;
constexpr std::uint64_t kLeast = std::uint64_t{16} << 20;  // threads have caches, be the heap ever so small

std::atomic<bool> is_over{false};
std::uint64_t quiet = kLeast;

void *allocate(void *) {
    for (unsigned i = 0; !is_over; ++i) std::free(opaque(std::malloc(i % 64 == 0 ? 3000 : 48)));
    return nullptr;
}

void wait_a_moment() {
    const timespec moment{0, 10'000'000};
    nanosleep(&moment, nullptr);
}

int hold(dl_phdr_info *, std::size_t, void *) {
    for (unsigned i = 0; i < kBlocks; ++i) {
        if (opaque(std::malloc(1000)) == nullptr) leave(1, "no memory for the thread that has the list\n");
    }
    for (unsigned i = 0; i < kRounds; ++i) {
        wait_a_moment();
        const std::uint64_t heap = statistics().heap_bytes;
        if (heap > kTimes * quiet) leave(1, "a heap of %lu bytes, %lu before\n", heap, quiet);
    }
    return 1;
}

}  // namespace

int main() {
    require_granary();
    pthread_t threads[kThreads];
    for (pthread_t &thread : threads) pthread_create(&thread, nullptr, allocate, nullptr);
    for (unsigned i = 0; i < kQuietRounds; ++i) {
        wait_a_moment();
        const std::uint64_t heap = statistics().heap_bytes;
        if (heap > quiet) i = 0;  // on a busy machine it takes long until the heap has its size
        quiet = std::max(quiet, heap);
    }
    for (unsigned i = 0; i < kHolds; ++i) {
        dl_iterate_phdr(hold, nullptr);
        wait_a_moment();
    }
    is_over = true;
    for (const pthread_t thread : threads) pthread_join(thread, nullptr);
    require_sound_heap();
    return 0;
}
