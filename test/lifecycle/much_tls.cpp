// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a program with more thread-local storage than the library's own thread needs for a stack.
// Invariant: the thread starts, with the storage in its stack.
// Must not know: when the library would start it.
#include <sched.h>

#include "own_thread.hpp"

using namespace gr::test;

namespace {

thread_local volatile char storage[1 << 20];

}  // namespace

int main() {
    require_granary();
    storage[0] = 1;
    for (int round = 0; round < 4; ++round) {
        void *blocks[1000];
        for (size_t i = 0; i < 1000; ++i) blocks[i] = std::malloc(16 * (i + 1));
        for (void *block : blocks) std::free(block);
    }
    // The thread stores its id when it first runs. This waits for ever if it never does.
    while (find_own_thread().id == 0) sched_yield();
    gr::black_box::require_sound_heap();
}
