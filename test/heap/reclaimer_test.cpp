// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which magazines are emptied: all, or those of heaps without a slow path for some ticks; also where the
//    caller may not touch them, while the sequences are stopped, or not.
// Invariant: no thread runs under the id of the heap whose magazines are reached by a stop only.
// Must not know: what the memory is wanted for; threads that allocate meanwhile (reclaim_test.cpp).
#include "heap/reclaimer.hpp"

#include "heap/acquire_run.hpp"
#include "heap/parts.hpp"
#include "platform/reentry.hpp"
#include "platform/rseq/stop.hpp"

namespace gr::reclaimer_test {

using fake::kHeapA;
using fake::kHeapB;

constexpr ClassIndex kClass = class_of(256);
constexpr std::uint32_t kSent = 5;

class ReclaimerTest : public testing::Test {
  protected:
    explicit ReclaimerTest(const fake::PartsSetup &setup = {}) : parts_(setup) {}

    // All blocks of a superblock of the heap, in its own magazine.
    const Superblock *cache(OwnerIndex o) {
        const std::vector<void *> blocks = parts_.take_all(o, kClass);
        EXPECT_EQ(parts_.fill(o, blocks), blocks.size());
        return parts_.superblock_of(blocks[0]);
    }
    std::uint32_t cached(OwnerIndex o) const { return parts_.in_magazine(o, magazine_of(kClass)); }

    fake::Parts parts_;
    Flusher flusher_{parts_.owners, parts_.remote, parts_.returns, parts_.messenger, parts_.capacities};
    Reclaimer reclaimer_{parts_.owners, parts_.remote, parts_.ownership, parts_.capacities, flusher_, parts_.store};
};

class ReclaimerOfOthers : public ReclaimerTest {
  protected:
    void SetUp() override {
        if (!fake::has_rseq()) GTEST_SKIP() << "libc registers no rseq here";
    }
    ReclaimerOfOthers() : ReclaimerTest({.sequences = fake::has_rseq()}) {}

    const OwnerIndex far_ = parts_.last_heap();
};

// The first of this file: the kernel refuses as long as the process did not register, and nothing takes that back.
TEST_F(ReclaimerOfOthers, WhatCannotBeStoppedIsLeftAlone) {
    char *const slabs = platform::gr_sequence_state.slabs;
    if (platform::SequencesStopped(parts_.owners.setup().found_at, parts_.owners.setup().zeroes).done())
        GTEST_SKIP() << "the process registered";
    cache(far_);
    const std::uint32_t before = cached(far_);
    reclaimer_.reclaim();
    EXPECT_EQ(cached(far_), before);
    EXPECT_FALSE(parts_.owners.slab(far_).has_detached());
    EXPECT_FALSE(parts_.owners.owner(far_).mutex.is_held());
    EXPECT_EQ(platform::gr_sequence_state.slabs, slabs);
}

TEST_F(ReclaimerOfOthers, AStopReachesTheMagazinesOfEveryId) {
    if (!platform::register_for_stops()) GTEST_SKIP() << "the kernel cannot stop sequences";
    const Superblock *const own = cache(far_);
    const std::vector<void *> others = parts_.take_all(kHeapB, kClass);
    parts_.fill_remote(far_, {others.data(), kSent});
    reclaimer_.reclaim();
    EXPECT_EQ(cached(far_), 0U);
    EXPECT_EQ(parts_.in_magazine(far_, kRemoteMagazine), 0U);
    EXPECT_EQ(owner_of(own), kNobody) << "a block was lost";
    EXPECT_EQ(parts_.superblock_of(others[0])->free_count, kSent);
    EXPECT_EQ(parts_.in_messages_of(far_), 0U);
    parts_.owners.for_each_heap([&](OwnerIndex o) { EXPECT_FALSE(parts_.owners.owner(o).mutex.is_held()); });
}

// Messages that a stop brought to light may be for the caller's own heap, whose magazines take them.
TEST_F(ReclaimerOfOthers, WhatCameByMessageMeanwhileGoesToo) {
    if (!platform::register_for_stops()) GTEST_SKIP() << "the kernel cannot stop sequences";
    const auto cid = static_cast<std::uint32_t>(platform::current_cid(platform::gr_sequence_state));
    const OwnerIndex mine = owner_of_heap(cid);
    const std::vector<void *> blocks = parts_.take_all(mine, kClass);
    parts_.holding(mine, [&] { ASSERT_TRUE(parts_.capacities.grow(mine, kClass)); });
    parts_.fill_remote(far_, {blocks.data(), kSent});
    reclaimer_.reclaim();
    EXPECT_EQ(cached(mine), 0U);
    EXPECT_EQ(parts_.superblock_of(blocks[0])->free_count, kSent);
}

TEST_F(ReclaimerOfOthers, WhoInterruptedTheHeapsStopsNobody) {
    if (!platform::register_for_stops()) GTEST_SKIP() << "the kernel cannot stop sequences";
    cache(far_);
    const std::uint32_t before = cached(far_);
    {
        const platform::Reentry interrupted;
        reclaimer_.reclaim();
    }
    EXPECT_EQ(cached(far_), before);
}

TEST_F(ReclaimerTest, EveryHeapsMagazinesAreEmptiedAndEveryMessageIsRead) {
    const Superblock *const own = cache(kHeapA);
    cache(kHeapB);
    const std::vector<void *> others = parts_.take_all(kHeapA, kClass);
    parts_.fill_remote(kHeapB, {others.data(), kSent});
    reclaimer_.reclaim();
    EXPECT_EQ(cached(kHeapB), 0U);
    EXPECT_EQ(parts_.in_messages_of(kHeapB), 0U);
    EXPECT_EQ(owner_of(own), kNobody) << "what fell empty stays";
}

TEST_F(ReclaimerTest, ATickReachesHeapsWithoutASlowPathOnly) {
    parts_.owners.for_each_heap([&](OwnerIndex o) { parts_.owners.heap(o).note_use(); });
    cache(kHeapA);
    cache(kHeapB);
    const std::uint32_t before = cached(kHeapA);
    for (unsigned tick = 1; tick < kTicksToIdle; ++tick) {
        reclaimer_.reclaim_idle();
        EXPECT_EQ(cached(kHeapB), before) << "tick " << tick;
    }
    parts_.owners.heap(kHeapA).note_use();
    reclaimer_.reclaim_idle();
    EXPECT_EQ(cached(kHeapB), 0U);
    EXPECT_EQ(cached(kHeapA), before) << "a heap in use was robbed";
}

TEST_F(ReclaimerTest, WhatAHandlerReleasedCanBeUsedAgain) {
    Superblock *const run = fake::acquire_run(parts_.store, parts_.superblocks, 3);
    {
        const platform::Reentry outer;
        ASSERT_TRUE(parts_.store.release_run(run));
    }
    ASSERT_GT(parts_.pages.used_bytes(), 0U);
    reclaimer_.reclaim();
    EXPECT_EQ(parts_.pages.used_bytes(), 0U);
}

}  // namespace gr::reclaimer_test
