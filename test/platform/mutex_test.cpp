// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the lock: exclusion and wake-up under contention, the thread that meets its own lock, the order of ranks.
// Invariant: no result depends on a time; a lost wake-up hangs, which the test's timeout catches.
// Must not know: what locks protect.
#include "platform/mutex.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>
#include <vector>

namespace gr::platform::mutex_test {

constexpr Rank kRank = Rank::heap;

TEST(Mutex, ExcludesAndNeverLosesAWakeUp) {
    constexpr int kThreads = 8;
    constexpr int kRounds = 20000;
    Mutex mutex;
    long counter = 0;  // plain: every lost exclusion shows
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < kRounds; ++i) {
                const bool locked = mutex.lock(kRank);
                ASSERT_TRUE(locked);
                const long seen = counter;
                if (i % 64 == 0) sched_yield();  // so that others really sleep
                counter = seen + 1;
                mutex.unlock(kRank);
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(counter, long{kThreads} * kRounds);
    EXPECT_FALSE(mutex.is_held());
}

TEST(Mutex, TryLockIsRefusedWhileHeld) {
    Mutex mutex;
    ASSERT_TRUE(mutex.try_lock(kRank));
    EXPECT_FALSE(mutex.try_lock(kRank));
    bool elsewhere = true;
    std::thread([&] { elsewhere = mutex.try_lock(kRank); }).join();
    EXPECT_FALSE(elsewhere);
    mutex.unlock(kRank);
    std::thread([&] {
        elsewhere = mutex.try_lock(kRank);
        if (elsewhere) mutex.unlock(kRank);
    }).join();
    EXPECT_TRUE(elsewhere);
}

TEST(Mutex, AWaitWithAnEndGivesUpOrGetsIt) {
    constexpr unsigned kMilliseconds = 2;
    Mutex mutex;
    ASSERT_TRUE(mutex.lock_for(kRank, kMilliseconds));
    bool elsewhere = true;
    std::thread([&] { elsewhere = mutex.lock_for(kRank, kMilliseconds); }).join();
    EXPECT_FALSE(elsewhere);
    std::thread other([&] {
        while (!mutex.lock_for(kRank, kMilliseconds)) {
        }
        mutex.unlock(kRank);
    });
    mutex.unlock(kRank);
    other.join();
    EXPECT_FALSE(mutex.is_held());
}

TEST(Mutex, TellsAThreadThatItHoldsItAlready) {
    Mutex mutex;
    EXPECT_FALSE(mutex.held_by_me());
    ASSERT_TRUE(mutex.lock(kRank));
    EXPECT_TRUE(mutex.held_by_me());
    EXPECT_FALSE(mutex.lock(kRank));
    {
        const Guard guard(mutex, kRank);
        EXPECT_FALSE(guard.locked());
    }
    EXPECT_TRUE(mutex.is_held()) << "a guard that did not lock unlocked";
    bool elsewhere = true;
    std::thread([&] { elsewhere = mutex.held_by_me(); }).join();
    EXPECT_FALSE(elsewhere);
    mutex.unlock(kRank);
    {
        const Guard guard(mutex, kRank);
        EXPECT_TRUE(guard.locked());
    }
    EXPECT_FALSE(mutex.is_held());
}

// The holder's own look at the lock must see through the sleeper's mark.
TEST(Mutex, TellsItAlsoWhileSomebodySleepsOnIt) {
    Mutex mutex;
    ASSERT_TRUE(mutex.lock(kRank));
    std::atomic<bool> got{false};
    std::thread sleeper([&] {
        const bool locked = mutex.lock(kRank);
        got = locked;
        mutex.unlock(kRank);
    });
    // The word's lowest bit is the sleeper's mark; wait until it is set.
    const auto word = [&] { return reinterpret_cast<const volatile std::uint32_t &>(mutex); };
    while ((word() & 1) == 0) sched_yield();
    EXPECT_FALSE(mutex.lock(kRank));
    EXPECT_TRUE(mutex.held_by_me());
    EXPECT_FALSE(got);
    mutex.unlock(kRank);
    sleeper.join();
    EXPECT_TRUE(got);
}

TEST(Mutex, ThreadsHaveDifferentTagsThatAreNoMark) {
    const std::uint32_t mine = thread_tag();
    std::uint32_t other = 0;
    std::thread([&] { other = thread_tag(); }).join();
    EXPECT_NE(mine, other);
    EXPECT_NE(mine, 0U);
    EXPECT_EQ((mine | other) & 1, 0U);
}

TEST(MutexDeathTest, WaitingDownTheRanksIsFoundByDebugBuilds) {
    if constexpr (!kDebug) GTEST_SKIP() << "ranks are checked by debug builds only";
    Mutex high;
    Mutex low;
    ASSERT_TRUE(high.lock(Rank::page_heap));
    EXPECT_DEATH(static_cast<void>(low.lock(Rank::heap)), "granary: internal check failed: .*held_ranks");
    EXPECT_TRUE(low.try_lock(Rank::heap)) << "trying may go down";
    low.unlock(Rank::heap);
    high.unlock(Rank::page_heap);
    EXPECT_TRUE(low.lock(Rank::heap));
    EXPECT_TRUE(high.lock(Rank::page_heap)) << "waiting may go up";
    high.unlock(Rank::page_heap);
    low.unlock(Rank::heap);
}

}  // namespace gr::platform::mutex_test
