// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: heaps that calls take by turns (Hoard 6, MTmalloc): each call the next, whichever thread makes it.
// Invariant: the number of heaps is the test's, so that each choice has one answer on every machine.
// Must not know: what a heap holds.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "parts/composed/heap_choice.hpp"

namespace gr::lab::heaps_of_calls_test {

struct Heap {
    HeapNumber number = 0;
    Lock<Rank::heap> lock;

    Lock<Rank::heap> &lock_of(unsigned) { return lock; }
};

template <unsigned kCount>
struct SoManyByTurn : ByTurn {
    static unsigned count() { return kCount; }
};
template <unsigned kCount>
using Heaps = HeapsOfCalls<Heap, SoManyByTurn<kCount>>;
static_assert(HeapChoice<Heaps<1>, Heap>);

// The heap that a call of the calling thread works on.
HeapNumber worked_on(auto &heaps) {
    Heap *const heap = heaps.enter(heaps.mine(), 0);
    const HeapNumber number = heap->number;
    heaps.leave(heap, 0);
    heaps.done([](Heap &) {});
    return number;
}

TEST(HeapsOfCallsTest, EachCallTakesTheNextWhicheverThreadMakesIt) {
    static constinit Heaps<3> heaps;
    EXPECT_EQ(heaps.count(), 0U);
    HeapNumber last = worked_on(heaps);
    EXPECT_EQ(heaps.count(), 3U) << "the first call makes all";
    const auto expect_next = [&last] {
        const HeapNumber number = worked_on(heaps);
        EXPECT_EQ(number, last % 3 + 1);
        last = number;
    };
    for (int round = 0; round < 4; ++round) {
        std::thread([&expect_next] {
            expect_next();
            expect_next();
        }).join();
        expect_next();
    }
    EXPECT_EQ(heaps.count(), 3U);
    EXPECT_EQ(heaps.mine_if_any(), nullptr) << "no thread has one between its calls";
}

TEST(HeapsOfCallsTest, OneHeapIsTakenByAll) {
    static constinit Heaps<1> heaps;
    for (int call = 0; call < 3; ++call) EXPECT_EQ(worked_on(heaps), 1U);
}

// Four threads of a thousand calls each: all heaps serve as many.
TEST(HeapsOfCallsTest, ThreadsAtOnceMissNoTurn) {
    constexpr unsigned kHeaps = 4;
    constexpr unsigned kCalls = 1000;
    static constinit Heaps<kHeaps> heaps;
    std::vector<std::vector<unsigned>> served(kHeaps, std::vector<unsigned>(kHeaps + 1));
    std::vector<std::thread> threads;
    for (std::vector<unsigned> &mine : served)
        threads.emplace_back([&mine] {
            for (unsigned call = 0; call < kCalls; ++call) ++mine[worked_on(heaps)];
        });
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(heaps.count(), kHeaps);
    for (HeapNumber number = 1; number <= kHeaps; ++number) {
        unsigned calls = 0;
        for (const std::vector<unsigned> &of_thread : served) calls += of_thread[number];
        EXPECT_EQ(calls, kCalls) << number;
    }
}

}  // namespace gr::lab::heaps_of_calls_test
