// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      a program with more thread-local storage than the library's own thread needs for a stack.
// Invariant: the thread starts all the same, with the storage in its stack.
// Must not know: when the library would start it.
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
    if (find_own_thread().id == 0) fail("there is no thread of the library's");
    gr::black_box::require_sound_heap();
}
