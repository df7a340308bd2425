// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the library cannot notice the end of the first thread: this program's pthread_key_create always refuses.
// Invariant: the library starts no thread, and everything else goes on. The test reads what the library says.
// Must not know: when the library would start its thread.
#include <pthread.h>

#include "own_thread.hpp"

using namespace gr::test;

extern "C" [[gnu::visibility("default")]] int pthread_key_create(pthread_key_t *, void (*)(void *)) { return EAGAIN; }

int main() {
    require_granary();
    for (int round = 0; round < 4; ++round) {
        void *blocks[1000];
        for (size_t i = 0; i < 1000; ++i) blocks[i] = std::malloc(16 * (i + 1));
        for (void *block : blocks) std::free(block);
    }
    if (find_own_thread().id != 0) fail("there is a thread of the library's");
    gr::black_box::require_sound_heap();
    gr::black_box::say(STDERR_FILENO, "no thread\n");
}
