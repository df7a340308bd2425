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

namespace gr {
namespace {

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
    const Slab slab(world.region.readable_table(), cid, false);
    std::uint32_t blocks = 0;
    for (std::uint32_t i = 0; i < platform::kHeaderCount; ++i) {
        const platform::MagazineHeader header = slab.header(platform::header_offset(i));
        blocks += static_cast<std::uint32_t>(header.current - header.begin);
    }
    return blocks;
}

std::uint32_t capacity(World &world, std::uint32_t cid, std::uint32_t header_at) {
    const platform::MagazineHeader header = Slab(world.region.readable_table(), cid, false).header(header_at);
    return static_cast<std::uint32_t>(header.limit - header.begin);
}

// Runs the work under an id other than the caller's, which runs meanwhile, and tells the id. -1: there is one CPU only.
template <class Work>
std::int32_t run_beside(Work work) {
    if (platform::usable_cpus() == 1) return -1;
    std::atomic<bool> done = false;
    std::atomic<std::int32_t> mine = my_cid();
    std::int32_t other = -1;
    std::thread thread([&] {
        while (my_cid() == mine) sched_yield();
        other = my_cid();
        work();
        done = true;
    });
    while (!done) mine = my_cid();
    thread.join();
    return other;
}

class Reclaim : public testing::Test {
  protected:
    void SetUp() override {
        if (!has_rseq()) GTEST_SKIP() << "libc registers no rseq here";
        world_ = std::make_unique<World>(fake::WorldSetup{.sequences = true});
    }
    std::uint32_t cached_anywhere() {
        std::uint32_t blocks = 0;
        for (std::uint32_t i = 0; i < world_->heaps.active_heaps(); ++i) blocks += cached(*world_, i);
        return blocks;
    }
    void *allocate(ClassIndex c) { return world_->heaps.allocate(c, nullptr); }

    std::unique_ptr<World> world_;
};

TEST_F(Reclaim, EmptiesTheMagazinesOfOtherIds) {
    const auto fill = [this] {
        std::vector<void *> blocks;
        for (int i = 0; i < 300; ++i) blocks.push_back(allocate(i % 2 == 0 ? kSmall : kLarge));
        for (void *p : blocks) world_->free(p);
    };
    if (run_beside(fill) < 0) GTEST_SKIP() << "there is one CPU";
    ASSERT_GT(cached_anywhere(), 100U) << "the test tests nothing";
    world_->heaps.reclaim();
    EXPECT_EQ(cached_anywhere(), 0U);
    EXPECT_TRUE(world_->is_valid());
    EXPECT_EQ(world_->pages.used_bytes(), 0U) << "a block was lost";
    // And again, from the first capacity on.
    fill();
    EXPECT_GT(cached_anywhere(), 100U) << "the magazines do not work any more";
    ASSERT_GE(run_beside(fill), 0);
    EXPECT_TRUE(world_->is_valid());
    world_->heaps.reclaim();
    EXPECT_EQ(cached_anywhere(), 0U);
    EXPECT_EQ(world_->pages.used_bytes(), 0U);
}

TEST_F(Reclaim, WhatWasFreedElsewhereReachesItsOwner) {
    std::vector<void *> blocks;
    for (int i = 0; i < 40; ++i) blocks.push_back(allocate(kSmall));
    const std::int32_t cid = run_beside([&] {
        for (void *p : blocks) world_->free(p);
    });
    if (cid < 0) GTEST_SKIP() << "there is one CPU";
    ASSERT_GT(cached_anywhere(), 0U);
    world_->heaps.reclaim();
    EXPECT_EQ(cached_anywhere(), 0U);
    EXPECT_TRUE(world_->is_valid());
    EXPECT_EQ(world_->pages.used_bytes(), 0U) << "a block was lost";
}

TEST_F(Reclaim, AMagazineThatGaveUpItsBlocksGivesUpItsShare) {
    const std::int32_t cid = run_beside([this] { world_->free(allocate(kSmall)); });
    if (cid < 0) GTEST_SKIP() << "there is one CPU";
    const auto i = static_cast<std::uint32_t>(cid);
    const MagazinePolicy &policy = world_->heap(i).magazines;
    if (policy.capacity(kSmall) == 0) GTEST_SKIP() << "the thread was moved";
    world_->heaps.reclaim();
    EXPECT_EQ(policy.capacity(kSmall), 0U);
    EXPECT_EQ(policy.bytes(), 0U);
    EXPECT_EQ(capacity(*world_, i, magazine_of(kSmall)), 0U);
}

// It could wait for a lock whose holder waits for the interrupted code.
TEST_F(Reclaim, AHandlerThatInterruptedTheHeapsStopsNobody) {
    const std::int32_t cid = run_beside([this] { world_->free(allocate(kSmall)); });
    if (cid < 0) GTEST_SKIP() << "there is one CPU";
    const std::uint32_t before = cached(*world_, static_cast<std::uint32_t>(cid));
    ASSERT_GT(before, 0U);
    {
        const Inside interrupted;
        world_->heaps.reclaim();
    }
    if (my_cid() != cid) {
        EXPECT_EQ(cached(*world_, static_cast<std::uint32_t>(cid)), before);
    }
    EXPECT_TRUE(world_->is_valid());
    world_->heaps.reclaim();
    EXPECT_EQ(world_->pages.used_bytes(), 0U);
}

// Magazines are emptied while their threads use them; nothing is lost or given out twice.
TEST_F(Reclaim, WhileOthersAllocate) {
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

}  // namespace
}  // namespace gr
