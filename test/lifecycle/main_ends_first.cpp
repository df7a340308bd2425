// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the main thread ends alone, then the last of the program's threads: the process must end with it.
// Invariant: a thread of the library's own does not count.
// Must not know: whether there is one; the environment says so to both (GRANARY_BACKGROUND, GRANARY_STATS_FILE).
#include <pthread.h>
#include <sched.h>

#include "own_thread.hpp"

using namespace gr::test;

namespace {

// Many slow paths: blocks of every size.
void allocate() {
    for (int round = 0; round < 4; ++round) {
        void *blocks[1000];
        for (size_t i = 0; i < 1000; ++i) blocks[i] = std::malloc(16 * (i + 1));
        for (void *block : blocks) std::free(block);
    }
}

bool main_has_ended() {
    char path[64];
    char text[4096];
    std::snprintf(path, sizeof path, "/proc/self/task/%d/status", getpid());
    read_file(path, text);
    return std::strstr(text, "State:\tZ") != nullptr;
}

void *outlive_main(void *) {
    while (!main_has_ended()) sched_yield();
    allocate();
    // Once it has gone it does not come again.
    while (find_own_thread().id != 0) sched_yield();
    allocate();
    if (find_own_thread().id != 0) fail("the library's thread came back");
    return nullptr;
}

}  // namespace

int main() {
    require_granary();
    alarm(50);
    allocate();
    const char *const background = std::getenv("GRANARY_BACKGROUND");
    const bool wanted =
        (background != nullptr && std::strcmp(background, "on") == 0) || std::getenv("GRANARY_STATS_FILE") != nullptr;
    while (wanted && find_own_thread().id == 0) sched_yield();  // it names itself
    if (!wanted && find_own_thread().id != 0) fail("nobody asked for a thread of the library's");
    pthread_t thread;
    if (pthread_create(&thread, nullptr, outlive_main, nullptr) != 0) fail("pthread_create");
    pthread_detach(thread);
    pthread_exit(nullptr);
}
