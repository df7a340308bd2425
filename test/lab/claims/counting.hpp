// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: locks taken and found taken while threads recycle blocks of their own, and while they free each other's (Wasik
//    6.1.2's recycle and consume).
// Invariant: locks are counted, in the counted build, and printed; nothing is timed.
// Must not know: how a lock is made.
#pragma once

#include <atomic>
#include <barrier>
#include <cstdio>

#include "lab/teams.hpp"
#include "platform/events.hpp"

namespace gr::lab {

static_assert(kCounted, "in the preset `counted` only");

inline constexpr std::size_t kThreads = 4;
inline constexpr std::size_t kRounds = 4000;
// On a loaded machine each costs every thread a turn.
inline constexpr std::size_t kRoundsTogether = kRounds / 8;
inline constexpr std::size_t kBatch = 64;
inline constexpr std::size_t kSize = 64;

// Of each lock: it is taken and released.
inline constexpr double kAtomicsOfLock = 2;

// For a million operations.
struct Counts {
    double locks;
    double waits;
    double atomics;  // operations, besides those of locks
};

template <class Work>
Counts count_while(std::size_t rounds, Work work) {
    const auto read = [](platform::Event event) { return static_cast<double>(platform::counted(event)); };
    const double locks = read(platform::Event::lock);
    const double waits = read(platform::Event::wait);
    const double atomics = read(platform::Event::atomic_operation);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < kThreads; ++t) threads.emplace_back([&work, t] { work(t); });
    for (std::thread &thread : threads) thread.join();
    const double millions = static_cast<double>(kThreads * rounds * kBatch * 2) / 1e6;
    const double taken = read(platform::Event::lock) - locks;
    const double others = read(platform::Event::atomic_operation) - atomics - kAtomicsOfLock * taken;
    return {taken / millions, (read(platform::Event::wait) - waits) / millions, others / millions};
}

inline Counts printed(const char *work, Counts counts, const char *name) {
    std::printf("%-9s %9.0f locks, %7.0f waits: %s\n", work, counts.locks, counts.waits, name);
    return counts;
}

template <class A>
Counts recycle(const char *name = kNameOf<A>) {
    const Counts counts = count_while(kRounds, [](std::size_t) {
        std::vector<void *> blocks(kBatch);
        for (std::size_t round = 0; round < kRounds; ++round) {
            for (void *&block : blocks) block = the_allocator<A>.allocate(kSize);
            for (void *const block : blocks) the_allocator<A>.free(block);
        }
        the_allocator<A>.thread_ends();
    });
    return printed("recycle", counts, name);
}

// Each frees what its neighbour allocated.
template <class A>
Counts hand_over(const char *name = kNameOf<A>) {
    std::vector<std::vector<void *>> blocks(kThreads, std::vector<void *>(kBatch));
    std::barrier<> everybody(kThreads);
    const Counts counts = count_while(kRoundsTogether, [&](std::size_t t) {
        for (std::size_t round = 0; round < kRoundsTogether; ++round) {
            for (void *&block : blocks[t]) block = the_allocator<A>.allocate(kSize);
            everybody.arrive_and_wait();
            for (void *const block : blocks[(t + 1) % kThreads]) the_allocator<A>.free(block);
            everybody.arrive_and_wait();
        }
        the_allocator<A>.thread_ends();
    });
    return printed("hand over", counts, name);
}

inline constexpr double kEachOperation = 1e6;
// A thread's beginning and end, its first container, what crosses a threshold.
inline constexpr double kSeldom = kEachOperation / 100;

}  // namespace gr::lab
