// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how a thread of Ptmalloc's finds its heap: its last, else another that no thread is in, else a new one (Wasik
//    4.3).
// Invariant: locks are held by the test, so that each choice has one answer.
// Must not know: what a heap holds.
#include <gtest/gtest.h>

#include <thread>

#include "parts/composed/heap_choice.hpp"

namespace gr::lab::trylock_heaps_test {

struct Heap {
    HeapNumber number = 0;
    Lock<Rank::heap> lock;

    Lock<Rank::heap> &lock_of(unsigned) { return lock; }
};

using Heaps = TrylockHeaps<Heap>;
static_assert(HeapChoice<Heaps, Heap>);

// The heap that a call of the calling thread works on.
HeapNumber worked_on(Heaps &heaps) {
    Heap *const heap = heaps.enter(heaps.mine(), 0);
    const HeapNumber number = heap->number;
    heaps.leave(heap, 0);
    heaps.done([](auto &) {});
    return number;
}

TEST(TrylockHeapsTest, AThreadStaysWhereItIsUntilItMeetsALock) {
    static constinit Heaps heaps;
    EXPECT_EQ(worked_on(heaps), 1U);
    std::thread([] {
        EXPECT_EQ(heaps.mine_if_any(), nullptr);
        EXPECT_EQ(worked_on(heaps), 1U);
        heaps.thread_ends([](auto &) {});
    }).join();
    EXPECT_EQ(heaps.count(), 1U);

    heaps.of(1)->lock.lock();
    std::thread([] {
        EXPECT_EQ(worked_on(heaps), 2U);
        EXPECT_EQ(worked_on(heaps), 2U);
        EXPECT_EQ(heaps.mine_if_any(), heaps.of(2));
    }).join();
    EXPECT_EQ(heaps.count(), 2U);
    // Another's before a new one, and then that.
    std::thread([] {
        EXPECT_EQ(worked_on(heaps), 2U);
        EXPECT_EQ(heaps.mine_if_any(), heaps.of(2));
    }).join();
    EXPECT_EQ(heaps.count(), 2U);

    heaps.of(2)->lock.try_lock();
    std::thread([] { EXPECT_EQ(worked_on(heaps), 3U); }).join();
    EXPECT_EQ(heaps.count(), 3U);
    heaps.of(1)->lock.unlock();
    heaps.of(2)->lock.unlock();
    EXPECT_EQ(worked_on(heaps), 1U);

    // It stays, though the first is free again.
    std::thread([] {
        heaps.of(1)->lock.lock();
        EXPECT_EQ(worked_on(heaps), 2U);
        heaps.of(1)->lock.unlock();
        EXPECT_EQ(worked_on(heaps), 2U);
    }).join();
}

}  // namespace gr::lab::trylock_heaps_test
