// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: reclaiming what lies in the magazines of ids that other threads run under, or ran under.
// Invariant: afterwards nothing is cached, nothing is lost, and the magazines work as new ones do.
// Must not know: requests in bytes.
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "heap/world.hpp"
#include "platform/reentry.hpp"

namespace gr::reclaim_test {

using fake::World;

constexpr ClassIndex kSmall = class_of(64);
constexpr ClassIndex kLarge = class_of(2048);

bool has_rseq() {
    platform::SequenceState found{};
    return platform::find_rseq(&found);
}

std::int32_t my_cid() { return platform::current_cid(platform::gr_sequence_state); }

// Of any class and the remote one.
std::uint32_t cached(World &world, std::uint32_t cid) {
    const Slab slab(world.region.readable_table(), cid, nullptr);
    std::uint32_t blocks = 0;
    for (std::uint32_t i = 0; i < platform::kHeaderCount; ++i) {
        const platform::MagazineHeader header = slab.header(platform::header_offset(i));
        blocks += header.held();
    }
    return blocks;
}

// The main thread stays on its CPU: so its id hardly ever changes.
class Reclaim : public testing::Test {
  protected:
    void SetUp() override {
        if (!has_rseq()) GTEST_SKIP() << "libc registers no rseq here";
        sched_getaffinity(0, sizeof allowed_, &allowed_);
        cpu_set_t mine;
        CPU_ZERO(&mine);
        CPU_SET(static_cast<unsigned>(sched_getcpu()), &mine);
        CPU_XOR(&others_, &allowed_, &mine);
        sched_setaffinity(0, sizeof mine, &mine);
        world_ = std::make_unique<World>(fake::WorldSetup{.sequences = true});
    }
    void TearDown() override {
        stop_beside();
        go_anywhere();
    }
    void go_anywhere() const { sched_setaffinity(0, sizeof allowed_, &allowed_); }
    bool has_one_cpu() const { return CPU_COUNT(&others_) == 0; }

    // Runs the work on another CPU and under another id than the caller's; tells that id. The thread that did it keeps
    // running till the test's end, so that neither id changes hands.
    template <class Work>
    std::uint32_t run_beside(Work work) {
        stop_beside();
        std::atomic<bool> done = false;
        std::atomic<std::int32_t> mine = my_cid();
        std::int32_t other = -1;
        beside_over_ = false;
        beside_ = std::thread([&] {
            sched_setaffinity(0, sizeof others_, &others_);
            while (my_cid() == mine) sched_yield();
            other = my_cid();
            work();
            done = true;
            while (!beside_over_) {
            }
        });
        while (!done) mine = my_cid();
        return static_cast<std::uint32_t>(other);
    }
    void stop_beside() {
        beside_over_ = true;
        if (beside_.joinable()) beside_.join();
    }
    std::uint32_t cached_anywhere() {
        std::uint32_t blocks = 0;
        for (std::uint32_t i = 0; i < world_->heaps.active_heaps(); ++i) blocks += cached(*world_, i);
        return blocks;
    }
    void *allocate(ClassIndex c) { return world_->heaps.allocate(c); }

    std::unique_ptr<World> world_;

  private:
    std::thread beside_;
    std::atomic<bool> beside_over_ = false;
    cpu_set_t allowed_{};
    cpu_set_t others_{};
};

TEST_F(Reclaim, EmptiesTheMagazinesOfOtherIds) {
    const auto fill = [this] {
        std::vector<void *> blocks;
        for (int i = 0; i < 300; ++i) blocks.push_back(allocate(i % 2 == 0 ? kSmall : kLarge));
        for (void *p : blocks) world_->free(p);
    };
    if (has_one_cpu()) GTEST_SKIP() << "there is one CPU";
    run_beside(fill);
    ASSERT_GT(cached_anywhere(), 100U) << "the test tests nothing";
    world_->heaps.reclaim();
    EXPECT_EQ(cached_anywhere(), 0U);
    EXPECT_TRUE(world_->is_valid());
    EXPECT_EQ(world_->pages.used_bytes(), 0U) << "a block was lost";
    // And again, from the first capacity on.
    fill();
    EXPECT_GT(cached_anywhere(), 100U) << "the magazines do not work any more";
    run_beside(fill);
    EXPECT_TRUE(world_->is_valid());
    world_->heaps.reclaim();
    EXPECT_EQ(cached_anywhere(), 0U);
    EXPECT_EQ(world_->pages.used_bytes(), 0U);
}

TEST_F(Reclaim, WhatWasFreedElsewhereReachesItsOwner) {
    if (has_one_cpu()) GTEST_SKIP() << "there is one CPU";
    std::vector<void *> blocks;
    for (int i = 0; i < 40; ++i) blocks.push_back(allocate(kSmall));
    run_beside([&] {
        for (void *p : blocks) world_->free(p);
    });
    ASSERT_GT(cached_anywhere(), 0U);
    world_->heaps.reclaim();
    EXPECT_EQ(cached_anywhere(), 0U);
    EXPECT_TRUE(world_->is_valid());
    EXPECT_EQ(world_->pages.used_bytes(), 0U) << "a block was lost";
}

TEST_F(Reclaim, OfIdleHeapsOnlyWhenTheTicksSayThat) {
    if (has_one_cpu()) GTEST_SKIP() << "there is one CPU";
    const std::uint32_t other = run_beside([this] { world_->free(allocate(kSmall)); });
    std::vector<void *> blocks;
    for (int i = 0; i < 80; ++i) blocks.push_back(allocate(kLarge));
    for (unsigned tick = 1; tick < kTicksToIdle; ++tick) {
        world_->heaps.reclaim_idle();
        EXPECT_GT(cached(*world_, other), 0U) << "tick " << tick;
    }
    // Slow paths of this thread: its own heap is none of the idle ones.
    for (void *p : blocks) world_->free(p);
    const std::uint32_t in_use = cached_anywhere() - cached(*world_, other);
    ASSERT_GT(in_use, 0U);
    world_->heaps.reclaim_idle();
    EXPECT_EQ(cached(*world_, other), 0U);
    EXPECT_EQ(cached_anywhere(), in_use) << "a heap in use was robbed";
    EXPECT_TRUE(world_->is_valid());
}

// It could wait for a lock whose holder waits for the interrupted code.
TEST_F(Reclaim, AHandlerThatInterruptedTheHeapsStopsNobody) {
    if (has_one_cpu()) GTEST_SKIP() << "there is one CPU";
    const std::uint32_t other = run_beside([this] { world_->free(allocate(kSmall)); });
    const std::uint32_t before = cached(*world_, other);
    ASSERT_GT(before, 0U);
    {
        const platform::Reentry interrupted;
        world_->heaps.reclaim();
    }
    EXPECT_EQ(cached(*world_, other), before);
    EXPECT_TRUE(world_->is_valid());
    world_->heaps.reclaim();
    EXPECT_EQ(world_->pages.used_bytes(), 0U);
}

// Magazines are emptied while their threads use them; nothing is lost or given out twice.
TEST_F(Reclaim, WhileOthersAllocate) {
    go_anywhere();
    constexpr int kThreads = 3;
    constexpr std::uintptr_t kTurns = 400000;
    std::atomic<int> running = kThreads;
    std::atomic<bool> torn = false;
    std::vector<std::thread> threads;
    for (std::uintptr_t number = 1; number <= kThreads; ++number) {
        threads.emplace_back([&, number] {
            std::vector<std::uintptr_t *> held(64);
            for (std::uintptr_t turn = 0; turn < kTurns; ++turn) {
                std::uintptr_t *&place = held[turn * number % held.size()];
                if (place != nullptr) {
                    if (*place != reinterpret_cast<std::uintptr_t>(place) + number) torn = true;
                    world_->free(place);
                }
                place = static_cast<std::uintptr_t *>(allocate(turn % 3 == 0 ? kLarge : kSmall));
                *place = reinterpret_cast<std::uintptr_t>(place) + number;
            }
            for (std::uintptr_t *p : held) {
                if (p != nullptr) world_->free(p);
            }
            --running;
        });
    }
    while (running != 0) world_->heaps.reclaim();
    for (std::thread &thread : threads) thread.join();
    EXPECT_FALSE(torn) << "a block was given out twice";
    world_->heaps.reclaim();
    EXPECT_EQ(cached_anywhere(), 0U);
    EXPECT_TRUE(world_->is_valid());
    EXPECT_EQ(world_->pages.used_bytes(), 0U) << "a block was lost";
}

}  // namespace gr::reclaim_test
