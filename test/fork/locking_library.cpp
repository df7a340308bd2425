// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a shared library that allocates under a lock of its own, and holds that lock while the process forks: its
//    constructor, which runs before any preloaded library's, registers the handlers.
// Invariant: the lock is free in parent and child.
// Must not know: the allocator.

#include <pthread.h>
#include <array>
#include <cstdlib>

namespace {

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
std::array<void *, 64> blocks;
std::array<size_t, 6> sizes = {24, 400, 5000, 32768, 100000, 1000000};

void lock() { pthread_mutex_lock(&mutex); }
void unlock() { pthread_mutex_unlock(&mutex); }

int error = -1;

[[gnu::constructor(101)]] void register_handlers() { error = pthread_atfork(lock, unlock, unlock); }

}  // namespace

extern "C" {
// 0 when the handlers are in place.
[[gnu::visibility("default")]] int locking_library_error() { return error; }
[[gnu::visibility("default")]] void locking_library_work() {
    lock();
    for (size_t i = 0; i < blocks.size(); ++i) {
        std::free(blocks[i]);
        blocks[i] = std::malloc(sizes[i % sizes.size()]);
    }
    unlock();
}
}
