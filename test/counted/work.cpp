// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: pieces of work whose slow paths can be counted on fingers: pairs, a pile, hand-overs between two CPUs, a few large
//    blocks again and again, and memory that is taken again and again. Prints the seconds it took.
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
void reuse(long count) {
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

// Allocates on one CPU and frees on another. Both are running all the time: a thread that sleeps may lose its
// concurrency id to the other.
template <class Allocate, class Free>
void on_two_cpus(Allocate allocate, Free free) {
    std::atomic<bool> ready = false, full = false, empty = false;
    std::thread allocating([&] {
        pin(0);
        while (!ready) {
        }
        allocate();
        full = true;
        while (!empty) {
        }
    });
    std::thread freeing([&] {
        pin(1);
        ready = true;
        while (!full) {
        }
        free();
        empty = true;
    });
    allocating.join();
    freeing.join();
}

void handover(long count) {
    std::vector<void *> blocks(static_cast<std::size_t>(count));
    on_two_cpus(
        [&] {
            for (void *&p : blocks) p = std::malloc(kSize);
        },
        [&] {
            for (void *const p : blocks) std::free(p);
        });
}

// The blocks that are freed elsewhere belong to the global heap, for most of their neighbours were freed, and in turn to the
// heap where they were allocated.
void handover_in_turn(long count) {
    constexpr std::size_t kNeighbours = 8;
    std::vector<void *> blocks;
    std::vector<void *> neighbours;
    blocks.reserve(2 * static_cast<std::size_t>(count));
    neighbours.reserve(kNeighbours * static_cast<std::size_t>(count));
    on_two_cpus(
        [&] {
            for (long i = 0; i < count; ++i) {
                blocks.push_back(std::malloc(kSize));
                for (std::size_t n = 1; n < kNeighbours; ++n) neighbours.push_back(std::malloc(kSize));
                blocks.push_back(std::malloc(2 * kSize));
            }
            for (void *const p : neighbours) std::free(p);
        },
        [&] {
            for (void *const p : blocks) std::free(p);
        });
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
    } else if (std::strcmp(argv[1], "handover-in-turn") == 0) {
        handover_in_turn(count);
    } else if (std::strcmp(argv[1], "large") == 0) {
        large(count);
    } else if (std::strcmp(argv[1], "reuse") == 0) {
        reuse(count);
    } else {
        return 2;
    }
    std::printf("%f\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    return 0;
}
