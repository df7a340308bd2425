// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: pieces of work whose slow paths can be counted on fingers: pairs, a pile, a hand-over between two CPUs.
// Invariant: all blocks are freed; 64 bytes each.
// Must not know: which malloc it runs on.
#include <sched.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kSize = 64;

void pairs(long count) {
    for (long i = 0; i < count; ++i) {
        void *volatile const p = std::malloc(kSize);
        std::free(p);
    }
}

void pile(long count) {
    std::vector<void *> blocks(static_cast<std::size_t>(count));
    for (void *&p : blocks) p = std::malloc(kSize);
    for (void *const p : blocks) std::free(p);
}

void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) std::perror("sched_setaffinity");
}

// Both are running all the time: who sleeps may lose its concurrency id to the other.
void handover(long count) {
    std::vector<void *> blocks(static_cast<std::size_t>(count));
    std::atomic<bool> ready = false, full = false, empty = false;
    std::thread allocating([&] {
        pin(0);
        while (!ready) {
        }
        for (void *&p : blocks) p = std::malloc(kSize);
        full = true;
        while (!empty) {
        }
    });
    std::thread freeing([&] {
        pin(1);
        ready = true;
        while (!full) {
        }
        for (void *const p : blocks) std::free(p);
        empty = true;
    });
    allocating.join();
    freeing.join();
}

}  // namespace

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    const long count = std::atol(argv[2]);
    if (std::strcmp(argv[1], "pairs") == 0) {
        pairs(count);
    } else if (std::strcmp(argv[1], "pile") == 0) {
        pile(count);
    } else if (std::strcmp(argv[1], "handover") == 0) {
        handover(count);
    } else {
        return 2;
    }
    return 0;
}
