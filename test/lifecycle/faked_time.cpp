// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a program that replaces libc's clock_gettime by a function that holds a lock and allocates, as libraries that
//    fake the time do.
// Invariant: an allocation inside that function never leads back to it: its lock would then wait for itself.
// Must not know: when the library wants the time.
#include "black_box.hpp"

#include <malloc.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <ctime>
#include <thread>
#include <vector>

namespace {

pthread_mutex_t lock;

void allocate() {
    for (std::size_t size = 16; size <= std::size_t{64} << 20; size *= 4) {
        void *const block = gr::black_box::opaque(std::malloc(size));
        GR_REQUIRE(block != nullptr);
        std::free(block);
    }
    malloc_trim(0);
}

void ask_and_allocate() {
    for (int turn = 0; turn < 200; ++turn) {
        timespec now{};
        GR_REQUIRE(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
        allocate();
    }
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int clock_gettime(clockid_t clock, timespec *time) noexcept {
    GR_REQUIRE(pthread_mutex_lock(&lock) == 0);
    allocate();
    GR_REQUIRE(pthread_mutex_unlock(&lock) == 0);
    return static_cast<int>(syscall(SYS_clock_gettime, clock, time));
}

int main() {
    gr::black_box::require_granary();
    pthread_mutexattr_t checked;
    GR_REQUIRE(pthread_mutexattr_init(&checked) == 0);
    GR_REQUIRE(pthread_mutexattr_settype(&checked, PTHREAD_MUTEX_ERRORCHECK) == 0);
    GR_REQUIRE(pthread_mutex_init(&lock, &checked) == 0);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) threads.emplace_back(ask_and_allocate);
    ask_and_allocate();
    for (std::thread &thread : threads) thread.join();
    gr::black_box::require_sound_heap();
    return 0;
}
