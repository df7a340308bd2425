// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: pieces of work whose slow paths can be counted on fingers: pairs, a pile, a hand-over between two CPUs, a few large
//       blocks again and again, and memory that breathes. Prints the seconds it took.
// Invariant: all blocks are freed; 64 bytes each, where nothing else is said.
// Must not know: which malloc it runs on.
#include <sched.h>

#include <atomic>
#include <chrono>
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

// Half of what a magazine holds, so that it takes no slow path however the wide ones share the budget.
void large(long count) {
    void *volatile blocks[8];
    for (long i = 0; i < count; ++i) {
        for (void *volatile &p : blocks) p = std::malloc(16 << 10);
        for (void *const p : blocks) std::free(p);
    }
}

// Eight MiB, written whole, each time.
void breathe(long count) {
    constexpr std::size_t kBlock = 256 << 10;
    char *blocks[32];
    for (long i = 0; i < count; ++i) {
        for (char *&p : blocks) {
            p = static_cast<char *>(std::malloc(kBlock));
            for (std::size_t at = 0; at < kBlock; at += 4096) const_cast<volatile char *>(p)[at] = 1;
        }
        for (char *const p : blocks) std::free(p);
    }
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
    const auto begin = std::chrono::steady_clock::now();
    if (std::strcmp(argv[1], "pairs") == 0) {
        pairs(count);
    } else if (std::strcmp(argv[1], "pile") == 0) {
        pile(count);
    } else if (std::strcmp(argv[1], "handover") == 0) {
        handover(count);
    } else if (std::strcmp(argv[1], "large") == 0) {
        large(count);
    } else if (std::strcmp(argv[1], "breathe") == 0) {
        breathe(count);
    } else {
        return 2;
    }
    std::printf("%f\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    return 0;
}
