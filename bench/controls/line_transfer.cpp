// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: how long does a cache line take from one CPU to another? Two threads on two CPUs write a word in
//    turn. Prints nanoseconds for one way, the median of kRounds rounds.
//    The two CPUs of a virtual machine may share a cache at one time and not at another.
// Invariant: a thread writes only after it has read what the other thread wrote.
// Must not know: malloc.
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

namespace {

constexpr int kRounds = 15;
constexpr int kFirstTurns = 1'000;
constexpr int kTurns = 10'000;

alignas(128) std::atomic<int> line{0};

bool pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
}

// Waits for `from`, then writes `to`, so many times.
void take_turns(int turns, int from, int to) {
    for (int turn = 0; turn < turns; ++turn) {
        while (line.load() != from) {
        }
        line.store(to);  // seq_cst: does not wait in the store buffer
    }
}

// Negative: a thread cannot be pinned. The first turns, in which the threads start and move, are not timed.
double nanoseconds_one_way(int first, int second) {
    std::atomic<bool> pinned = true;
    std::thread other([&] {
        if (!pin(second)) pinned = false;
        take_turns(kFirstTurns + kTurns, 1, 0);
    });
    if (!pin(first)) pinned = false;
    take_turns(kFirstTurns, 0, 1);
    const auto begin = std::chrono::steady_clock::now();
    take_turns(kTurns, 0, 1);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    other.join();
    return pinned ? took.count() / (2.0 * kTurns) : -1;
}

}  // namespace

int main() {
    cpu_set_t allowed;
    int cpus[2] = {-1, -1};
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return std::perror("line-transfer"), 1;
    for (int cpu = 0, found = 0; cpu < CPU_SETSIZE && found < 2; ++cpu)
        if (CPU_ISSET(cpu, &allowed)) cpus[found++] = cpu;
    if (cpus[1] < 0) return std::fputs("line-transfer: needs two CPUs; allow it more (taskset)\n", stderr), 2;
    std::array<double, kRounds> rounds;
    for (double &round : rounds) round = nanoseconds_one_way(cpus[0], cpus[1]);
    std::ranges::sort(rounds);
    if (rounds[0] < 0) return std::fputs("line-transfer: cannot pin a thread to a CPU\n", stderr), 1;
    std::printf("%.0f\n", rounds[kRounds / 2]);
}
