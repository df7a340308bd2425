// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: every composition against what malloc promises: blocks apart, aligned, as long as asked for; by many threads that
//    free each other's, end, and begin anew.
// Invariant: a block's bytes are its holder's, from its allocation to its free.
// Must not know: how any composition works.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "lab/teams.hpp"

namespace gr::lab::composed_test {

struct Held {
    unsigned char *p;
    std::size_t size;
    unsigned char mark;

    void fill() const { std::memset(p, mark, size); }
    bool is_whole() const {
        for (std::size_t i = 0; i < size; ++i)
            if (p[i] != mark) return false;
        return true;
    }
};

template <class A>
class ComposedTest : public testing::Test {
  protected:
    static A &allocator() { return the_allocator<A>; }

    static Held allocate(std::mt19937 &random) {
        const std::size_t most = std::size_t{1} << (4 + random() % 13);
        const std::size_t size = random() % most;
        const std::size_t alignment = random() % 8 == 0 ? std::size_t{1} << (random() % 13) : 1;
        void *const p = alignment == 1 ? allocator().allocate(size) : allocator().allocate_aligned(size, alignment);
        EXPECT_NE(p, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % std::max(alignment, kAlignment), 0U);
        EXPECT_GE(allocator().usable_size(p), size);
        const Held held{static_cast<unsigned char *>(p), size, static_cast<unsigned char>(random())};
        held.fill();
        return held;
    }
    static void free(const Held &held) {
        EXPECT_TRUE(held.is_whole());
        allocator().free(held.p);
    }
    // Blocks that wait for another thread.
    struct Table {
        std::mutex mutex;
        std::vector<Held> blocks;
    };
    static void work(Table &table, unsigned seed, int rounds) {
        std::mt19937 random(seed);
        std::vector<Held> mine;
        for (int i = 0; i < rounds; ++i) {
            if (random() % 2 == 0 || mine.empty()) {
                mine.push_back(allocate(random));
            } else {
                std::swap(mine[random() % mine.size()], mine.back());
                const Held held = mine.back();
                mine.pop_back();
                if (random() % 2 == 0) {
                    free(held);
                    continue;
                }
                const std::lock_guard guard(table.mutex);
                table.blocks.push_back(held);
            }
            const std::lock_guard guard(table.mutex);
            if (table.blocks.size() > 64 && random() % 2 == 0) {
                std::swap(table.blocks[random() % table.blocks.size()], table.blocks.back());
                const Held held = table.blocks.back();
                table.blocks.pop_back();
                free(held);
            }
        }
        for (const Held &held : mine) free(held);
        allocator().thread_ends();
    }
};
TYPED_TEST_SUITE(ComposedTest, Compositions);

TYPED_TEST(ComposedTest, ASizeOfEachKindIsServed) {
    for (const std::size_t size : {0UL, 1UL, 16UL, 17UL, 1000UL, 30000UL, 32768UL, 40000UL, 70000UL, 5000000UL}) {
        void *const p = this->allocator().allocate(size);
        ASSERT_NE(p, nullptr);
        ASSERT_GE(this->allocator().usable_size(p), size);
        std::memset(p, 1, this->allocator().usable_size(p));
        this->allocator().free(p);
    }
    EXPECT_EQ(this->allocator().allocate(SIZE_MAX), nullptr);
    EXPECT_EQ(this->allocator().allocate(kMaxRequest), nullptr);
    EXPECT_EQ(this->allocator().allocate_aligned(kMaxRequest, kKiB), nullptr);
}

TYPED_TEST(ComposedTest, WhatComesFreshFromTheKernelIsZero) {
    const std::size_t size = this->allocator().zeroed_above() + 1;
    for (int i = 0; i < 3; ++i) {
        auto *const p = static_cast<unsigned char *>(this->allocator().allocate(size));
        for (std::size_t at = 0; at < size; ++at) ASSERT_EQ(p[at], 0);
        std::memset(p, 1, size);
        this->allocator().free(p);
    }
}

TYPED_TEST(ComposedTest, ManyThreadsFreeEachOthersBlocksAndEnd) {
    typename TestFixture::Table table;
    for (unsigned round = 0; round < 3; ++round) {
        std::vector<std::thread> threads;
        for (unsigned t = 0; t < 6; ++t) threads.emplace_back([&, t] { this->work(table, round * 100 + t, 2500); });
        for (std::thread &thread : threads) thread.join();
    }
    for (const Held &held : table.blocks) this->free(held);
}

TYPED_TEST(ComposedTest, AThreadThatHasEndedStillAllocates) {
    std::thread([this] {
        this->allocator().free(this->allocator().allocate(100));
        this->allocator().thread_ends();
        for (int i = 0; i < 100; ++i) this->allocator().free(this->allocator().allocate(100));
    }).join();
    SUCCEED();
}

// 5.2: so what a thread leaves is used by the next.
TYPED_TEST(ComposedTest, AThreadTakesOverWhatOneThatEndedLeft) {
    constexpr std::size_t kThreads = 50;
    constexpr std::size_t kBlocks = 20;
    std::set<void *> seen;
    for (std::size_t t = 0; t < kThreads; ++t) {
        std::thread([&] {
            std::vector<void *> blocks;
            for (std::size_t i = 0; i < kBlocks; ++i) blocks.push_back(this->allocator().allocate(3000));
            seen.insert(blocks.begin(), blocks.end());
            for (void *const block : blocks) this->allocator().free(block);
            this->allocator().thread_ends();
            this->allocator().free(this->allocator().allocate(3000));  // as destructors of thread-local objects do
        }).join();
    }
    EXPECT_LT(seen.size(), kThreads * kBlocks / 4);
}

// A pile, many times: what is freed is used again. Not at once where a remote list is cleared last: then what the global
// heap has from earlier tests goes round with it, some piles of it.
TYPED_TEST(ComposedTest, WhatIsFreedIsTakenAgain) {
    constexpr std::size_t kBlocks = 3000;
    constexpr std::size_t kRounds = 80;
    std::set<void *> seen;
    std::vector<void *> blocks;
    for (std::size_t round = 0; round < kRounds; ++round) {
        for (std::size_t i = 0; i < kBlocks; ++i) blocks.push_back(this->allocator().allocate(200));
        seen.insert(blocks.begin(), blocks.end());
        for (void *const block : blocks) this->allocator().free(block);
        blocks.clear();
    }
    EXPECT_LT(seen.size(), kRounds * kBlocks / 4);
}

// Those whose heaps or remote lists have locks: what is freed from another thread waits for a fork to be over. It is
// there before any lock is taken, for locks_of_threads.
template <class A>
void expect_to_wait_for_a_fork() {
    A &allocator = the_allocator<A>;
    Member other([] { the_allocator<A>.thread_ends(); });
    void *const block = allocator.allocate(100);
    allocator.lock();
    other.ask([&] { allocator.free(block); });
    while (!other.is_done() && !other.is_waiting()) std::this_thread::yield();
    EXPECT_FALSE(other.is_done());
    allocator.unlock();
    other.wait();
}

TEST(ComposedForkTest, EachLockIsHeld) {
    expect_to_wait_for_a_fork<Single>();
    expect_to_wait_for_a_fork<ConcurrentSingle>();
    expect_to_wait_for_a_fork<Owned>();
    expect_to_wait_for_a_fork<Restricted>();
    expect_to_wait_for_a_fork<Buffered>();
    expect_to_wait_for_a_fork<Io>();
    expect_to_wait_for_a_fork<Remote>();
    expect_to_wait_for_a_fork<OwnedRemote>();
    expect_to_wait_for_a_fork<IoR>();
}

TYPED_TEST(ComposedTest, AForkedChildHasAHeapThatWorks) {
    typename TestFixture::Table table;
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 3; ++t) {
        threads.emplace_back([&, t] {
            for (unsigned seed = t; !stop.load(); seed += 3) this->work(table, seed, 200);
        });
    }
    for (int i = 0; i < 4; ++i) {
        const std::lock_guard guard(table.mutex);  // the child's own copy must not be held by another
        this->allocator().lock();
        const pid_t child = fork();
        if (child == 0) {
            this->allocator().unlock();
            alarm(60);
            std::mt19937 random(7);
            for (const Held &held : table.blocks) {
                if (!held.is_whole()) _exit(1);
                this->allocator().free(held.p);
            }
            for (int n = 0; n < 2000; ++n) this->free(this->allocate(random));
            _exit(testing::Test::HasFailure() ? 1 : 0);
        }
        this->allocator().unlock();
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
    stop.store(true);
    for (std::thread &thread : threads) thread.join();
    for (const Held &held : table.blocks) this->free(held);
}

}  // namespace gr::lab::composed_test
