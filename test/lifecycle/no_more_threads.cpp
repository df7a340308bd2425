// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the library's own thread cannot be started: this program's pthread_create always refuses.
// Invariant: one line tells of it, and everything else goes on.
// Must not know: when the library would start it.
#include <fcntl.h>
#include <pthread.h>

#include "own_thread.hpp"

using namespace gr::test;

extern "C" [[gnu::visibility("default")]] int pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                                                             void *) {
    return EAGAIN;
}

int main() {
    require_granary();
    alarm(50);
    int ends[2];
    if (pipe2(ends, O_NONBLOCK) != 0) fail("pipe2: %s", std::strerror(errno));
    const int before = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    errno = 0;
    for (int round = 0; round < 4; ++round) {
        void *blocks[1000];
        for (size_t i = 0; i < 1000; ++i) blocks[i] = std::malloc(16 * (i + 1));
        for (void *block : blocks) std::free(block);
    }
    const bool errno_kept = errno == 0;
    dup2(before, STDERR_FILENO);
    if (!errno_kept) fail("malloc changed errno to %d", errno);
    char said[4096] = {};
    const ssize_t length = read(ends[0], said, sizeof said - 1);
    if (length <= 0 || std::strncmp(said, "granary: no background thread", 29) != 0) fail("no word of it: %s", said);
    if (std::strchr(said, '\n') != said + length - 1) fail("more than one line: %s", said);
    if (find_own_thread().id != 0) fail("there is a thread of the library's");
    gr::black_box::require_sound_heap();
}
