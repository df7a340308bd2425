// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: superblocks and runs out of units and back; releases that come while the thread is inside the page heap.
// Invariant: nothing is lost, whatever the page heap answers.
// Must not know: bins and magazines.
#include "heap/unit_store.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "fake/region.hpp"
#include "heap/acquire_run.hpp"
#include "platform/reentry.hpp"

namespace gr::unit_store_test {

class UnitStoreTest : public testing::Test {
  protected:
    void SetUp() override {
        fake::reset();
        ASSERT_TRUE(fake::reserve(region_, 4));
        pages_.initialise(region_.fixed_table(), kMiB);
    }
    void TearDown() override {
        EXPECT_TRUE(pages_.is_valid());
        EXPECT_EQ(pages_.used_bytes(), 0U);
    }
    // As a signal handler that interrupted the page heap.
    template <class Action>
    void inside_the_page_heap(Action action) {
        ASSERT_TRUE(pages_.mutex().lock(platform::Rank::page_heap));
        action();
        pages_.mutex().unlock(platform::Rank::page_heap);
    }
    UnitEntry entry(const Superblock *s, std::uint32_t unit) const {
        return load_entry(region_, s->unit + UnitCount(unit));
    }
    Superblock *acquire_run(std::uint32_t units, std::uint32_t alignment = 1, bool *zeroed = nullptr) {
        return fake::acquire_run(store_, superblocks_, units, alignment, zeroed);
    }

    Region region_;
    Superblocks superblocks_{region_};
    PageHeap pages_{region_};
    UnitStore store_{region_, superblocks_, pages_};
};

TEST_F(UnitStoreTest, ARunIsReleasedOnce) {
    bool zeroed = false;
    Superblock *const run = acquire_run(5, 2, &zeroed);
    ASSERT_NE(run, nullptr);
    EXPECT_TRUE(zeroed);
    EXPECT_EQ(entry(run, 0), kRunEntry);
    for (std::uint32_t i = 1; i < 5; ++i) EXPECT_EQ(entry(run, i), 0U);
    EXPECT_TRUE(store_.release_run(run));
    EXPECT_EQ(entry(run, 0), 0U);
    EXPECT_FALSE(store_.release_run(run));
}

TEST_F(UnitStoreTest, RunsGrowInPlaceWhereThereIsRoom) {
    Superblock *const first = acquire_run(2);
    Superblock *const second = acquire_run(2);
    EXPECT_FALSE(store_.resize_run(first, UnitCount(3))) << "over its neighbour";
    EXPECT_EQ(first->units.value, 2U);
    EXPECT_TRUE(store_.resize_run(second, UnitCount(40)));
    EXPECT_EQ(pages_.used_bytes(), 42 * kUnitBytes);
    EXPECT_TRUE(store_.resize_run(second, UnitCount(1)));
    EXPECT_EQ(pages_.used_bytes(), 3 * kUnitBytes);
    EXPECT_FALSE(store_.resize_run(second, UnitCount(4 * kUnitsPerChunk)));
    EXPECT_TRUE(store_.release_run(first));
    EXPECT_TRUE(store_.release_run(second));
}

TEST_F(UnitStoreTest, AReleaseInsideThePageHeapIsOnlyPutOff) {
    Superblock *const a = acquire_run(5);
    Superblock *const b = store_.acquire_superblock(ClassIndex(90), Prefer::warm);
    Superblock *const c = acquire_run(1);
    inside_the_page_heap([&] {
        EXPECT_EQ(store_.acquire_superblock(ClassIndex(1), Prefer::warm), nullptr);
        EXPECT_EQ(acquire_run(1), nullptr);
        EXPECT_FALSE(store_.resize_run(a, UnitCount(2)));
        EXPECT_EQ(a->units.value, 5U) << "a shrink that was refused";
        EXPECT_TRUE(store_.release_run(a));
        store_.release(b);
        EXPECT_TRUE(store_.release_run(c));
        EXPECT_FALSE(store_.release_run(c)) << "the second free of a run whose release was put off";
    });
    EXPECT_GT(pages_.used_bytes(), 0U);
    Superblock *const next = store_.acquire_superblock(ClassIndex(1), Prefer::warm);
    ASSERT_NE(next, nullptr);
    EXPECT_EQ(pages_.used_bytes(), next->bytes()) << "what was put off is lost";
    store_.release(next);
}

// A whole unit at most, as where one byte more than a unit's multiple was asked for.
TEST_F(UnitStoreTest, ARunsTailIsAbsentAndNoPartOfItsBlock) {
    const std::size_t page = platform::page_size();
    for (const std::size_t kept : {2 * kUnitBytes, 2 * kUnitBytes + 1, 3 * kUnitBytes - page}) {
        bool zeroed = false;
        void *const block = store_.acquire_run(UnitCount(3), UnitCount(1), CpuGroup(0), kept, &zeroed);
        ASSERT_NE(block, nullptr);
        Superblock *const run = superblocks_.find(block).superblock;
        const std::size_t size = align_up(kept, page);
        EXPECT_EQ(Superblocks::block_size(run), size);
        EXPECT_EQ(Superblocks::block_extent(run), 3 * kUnitBytes);
        EXPECT_EQ(pages_.absent_bytes(), 3 * kUnitBytes - size);
        EXPECT_EQ(pages_.present_bytes(), size);
        EXPECT_EQ(superblocks_.find(static_cast<char *>(block) + size).superblock, run) << "a pointer one past its end";
        EXPECT_TRUE(store_.release_run(run));
        EXPECT_EQ(pages_.absent_bytes(), 0U);
    }
}

TEST_F(UnitStoreTest, ATailOfWarmUnitsGoesBackAndOneThatIsRefusedStays) {
    EXPECT_TRUE(store_.release_run(acquire_run(2)));
    ASSERT_TRUE(fake::purged().empty());
    const auto acquire = [&](bool *zeroed) {
        void *const block = store_.acquire_run(UnitCount(2), UnitCount(1), CpuGroup(0), kUnitBytes + 1, zeroed);
        return superblocks_.find(block).superblock;
    };
    bool zeroed = true;
    Superblock *run = acquire(&zeroed);
    EXPECT_FALSE(zeroed);
    ASSERT_EQ(fake::purged().size(), 1U);
    EXPECT_EQ(fake::purged()[0].begin, superblocks_.begin(run) + Superblocks::block_size(run));
    EXPECT_EQ(fake::purged()[0].bytes, 2 * kUnitBytes - Superblocks::block_size(run));
    EXPECT_TRUE(store_.release_run(run));

    EXPECT_TRUE(store_.release_run(acquire_run(2)));  // may have used all of it
    fake::fail(fake::Call::purge, 0, 1);
    run = acquire(&zeroed);
    EXPECT_EQ(Superblocks::block_size(run), 2 * kUnitBytes);
    EXPECT_EQ(pages_.absent_bytes(), 0U);
    EXPECT_TRUE(store_.release_run(run));
}

// A program may write to the first byte of a tail, because it may point there.
TEST_F(UnitStoreTest, ATailThatIsAbsentAlreadyDoesNotGoBackAgain) {
    EXPECT_TRUE(store_.release_run(acquire_run(2)));
    const auto acquire = [&](std::size_t kept) {
        bool zeroed = false;
        void *const block = store_.acquire_run(UnitCount(2), UnitCount(1), CpuGroup(0), kept, &zeroed);
        return superblocks_.find(block).superblock;
    };
    Superblock *run = acquire(kUnitBytes + 1);
    char *const tail = superblocks_.begin(run) + Superblocks::block_size(run);
    const std::size_t absent = pages_.absent_bytes();
    for (int round = 0; round < 2; ++round) {
        tail[0] = 1;
        EXPECT_TRUE(store_.release_run(run));
        run = acquire(kUnitBytes + 1);
        EXPECT_EQ(fake::purged().size(), 1U);
        EXPECT_EQ(pages_.absent_bytes(), absent);
        EXPECT_EQ(tail[0], 0) << "the program finds what it wrote to an earlier block";
    }
    EXPECT_TRUE(store_.release_run(run));
    run = acquire(kUnitBytes);
    EXPECT_EQ(fake::purged().size(), 2U) << "a page of the longer tail is present";
    EXPECT_TRUE(store_.release_run(run));
    EXPECT_TRUE(store_.release_run(acquire_run(2)));
    run = acquire(kUnitBytes);
    EXPECT_EQ(fake::purged().size(), 3U) << "the run between had no tail";
    EXPECT_TRUE(store_.release_run(run));
}

// It may have interrupted another instance's page heap: then the holder of this one's lock may be waiting for that
// heap's.
TEST_F(UnitStoreTest, AHandlerThatInterruptedAnyHeapDoesNotAskForThePageHeap) {
    Superblock *const a = acquire_run(5);
    Superblock *const b = store_.acquire_superblock(ClassIndex(90), Prefer::warm);
    const std::size_t used = pages_.used_bytes();
    {
        const platform::Reentry interrupted;
        EXPECT_EQ(acquire_run(1), nullptr);
        EXPECT_FALSE(store_.resize_run(a, UnitCount(2)));
        EXPECT_FALSE(store_.resize_run(a, UnitCount(6)));
        EXPECT_TRUE(store_.release_run(a));
        const platform::Reentry handler;
        store_.release(b);
    }
    EXPECT_EQ(pages_.used_bytes(), used);
    Superblock *const next = acquire_run(1);
    ASSERT_NE(next, nullptr);
    EXPECT_EQ(pages_.used_bytes(), next->bytes()) << "what was put off is lost";
    EXPECT_TRUE(store_.release_run(next));
}

TEST_F(UnitStoreTest, RefusedMemoryIsNoSuperblock) {
    std::vector<Superblock *> all;
    while (Superblock *const s = store_.acquire_superblock(ClassIndex(1), Prefer::warm)) all.push_back(s);
    EXPECT_EQ(all.size(), 4 * kUnitsPerChunk / shape_of(ClassIndex(1)).units);
    EXPECT_EQ(acquire_run(1), nullptr);
    for (Superblock *s : all) store_.release(s);
}

}  // namespace gr::unit_store_test
