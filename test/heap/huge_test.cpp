// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which chunks become huge, and when a sweep splits one.
// Invariant: a wait for the clock ends by itself; only a wait that never ends would fail.
// Must not know: requests in bytes.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "heap/acquire_run.hpp"
#include "heap/world.hpp"

namespace gr::huge_test {

using fake::World;

constexpr ClassIndex kClass = class_of(256);
constexpr std::size_t kSize = 256;
constexpr std::uint32_t kFull = kHugeHeapBytes / kChunkBytes;  // chunks, so many that the heap is large

class Huge : public testing::Test {
  protected:
    Huge() { grow(kClass, kHugeHeapBytes - 2 * kChunkBytes); }
    ~Huge() override {
        for (void *p : blocks_) world_.free(p);
    }
    void grow(ClassIndex c, std::size_t bytes) {
        while (world_.pages.used_bytes() < bytes) {
            blocks_.push_back(world_.allocate_in(0, c));
            std::memset(blocks_.back(), 0x5a, size_of_class(c));
        }
    }
    // From blocks of another class, so that what is free of the first stays so. Until then nothing can be huge.
    void become_large() { grow(class_of(512), kHugeHeapBytes + kChunkBytes); }
    std::size_t huge_chunks() const {
        std::size_t count = 0;
        for (std::uint32_t c = 0; c < kFull; ++c) count += world_.pages.huge_pages().may_be_huge(ChunkIndex(c)) ? 1 : 0;
        return count;
    }
    // As a program that goes on calling does, by the slow path: magazines are empty.
    void pass_by() {
        world_.heaps.reclaim();
        world_.free(world_.allocate_in(0, class_of(1024)));
    }
    void make_all() {
        become_large();
        while (huge_chunks() < kFull) pass_by();
    }
    // Those in every second page where that is wanted: no unit falls empty.
    template <class Wanted>
    void free_pages(Wanted wanted) {
        std::erase_if(blocks_, [&](void *p) {
            const bool second = reinterpret_cast<std::uintptr_t>(p) / platform::page_size() % 2 == 0;
            const bool goes = second && wanted(static_cast<const char *>(p));
            if (goes) world_.free(p);
            return goes;
        });
    }
    // Those of every chunk that lie in the first of these parts.
    void free_first_of(std::size_t parts) {
        std::erase_if(blocks_, [&](void *p) {
            const bool goes = (reinterpret_cast<std::uintptr_t>(p) % kChunkBytes) / (kChunkBytes / parts) == 0;
            if (goes) world_.free(p);
            return goes;
        });
    }

    World world_{{.chunks = 2 * kFull, .retain = 4 * kMiB, .reuse = 0, .maker = HugePageMaker::us}};
    std::vector<void *> blocks_;
};

TEST_F(Huge, FullChunksOfALargeHeapAre) {
    make_all();
    EXPECT_GE(fake::collapsed().size(), kFull);
    EXPECT_TRUE(world_.is_valid());
}

TEST_F(Huge, NothingIsAboveTheSoftLimit) {
    world_.pages.limit().initialise(1, MemoryLimit::kNone);
    become_large();
    ASSERT_TRUE(world_.pages.limit().is_above_soft());
    pass_by();
    EXPECT_EQ(world_.pages.huge_pages().not_before(), 0U) << "a chunk was looked at";
}

TEST_F(Huge, ATickMakesThemAndIsAboveNoSoftLimitEither) {
    become_large();
    while (huge_chunks() < kFull) world_.heaps.reclaim_idle();
    const std::uint64_t next = world_.pages.huge_pages().not_before();
    world_.pages.limit().initialise(1, MemoryLimit::kNone);
    world_.heaps.reclaim_idle();
    EXPECT_EQ(world_.pages.huge_pages().not_before(), next) << "a chunk was looked at";
}

TEST_F(Huge, ChunksWithARunAreNot) {
    // In the place of the first superblock.
    const char *const unit = world_.region.address(world_.region.first_unit());
    std::erase_if(blocks_, [&](void *p) {
        const bool goes = p >= unit && p < unit + kUnitBytes;
        if (goes) world_.free(p);
        return goes;
    });
    world_.heaps.reclaim();
    Superblock *const run = fake::acquire_run(world_.heaps.store(), world_.superblocks, 1);
    ASSERT_EQ(run->unit, world_.region.first_unit());
    become_large();
    while (huge_chunks() < kFull - 1) pass_by();
    EXPECT_FALSE(world_.pages.huge_pages().may_be_huge(ChunkIndex(0)));
    ASSERT_TRUE(world_.heaps.store().release_run(run));
}

TEST_F(Huge, ChunksWithAbsentPagesAreNot) {
    const char *const chunk = world_.region.address(world_.region.first_unit());
    free_pages([&](const char *p) { return p < chunk + kChunkBytes / kHugeAbsentParts * 4; });
    world_.heaps.reclaim();
    world_.heaps.sweep();
    ASSERT_GT(world_.pages.absent_bytes(), kChunkBytes / kHugeAbsentParts);
    // By these pages only: the class is not asked for again.
    become_large();
    while (huge_chunks() < kFull - 1) pass_by();
    EXPECT_FALSE(world_.pages.huge_pages().may_be_huge(ChunkIndex(0)));
}

TEST_F(Huge, AreSplitForMuch) {
    make_all();
    free_first_of(kHugeSplitParts);
    free_first_of(kHugeSplitParts / 2);
    EXPECT_GT(world_.heaps.swept_bytes() + world_.pages.purged_bytes(), 0U);
    EXPECT_LT(huge_chunks(), kFull);
    EXPECT_TRUE(world_.is_valid());
}

TEST_F(Huge, AreNotSplitForLittle) {
    make_all();
    free_pages([](const char *p) {
        return reinterpret_cast<std::uintptr_t>(p) % kChunkBytes < kChunkBytes / kHugeSplitParts;
    });
    // Every second block of the others, so that the superblocks come to the global heap, but no more whole pages.
    std::erase_if(blocks_, [&](void *p) {
        const bool goes = reinterpret_cast<std::uintptr_t>(p) / kSize % 2 == 0;
        if (goes) world_.free(p);
        return goes;
    });
    EXPECT_GE(huge_chunks(), kFull / 2) << "more than those that hold empty superblocks";
    world_.heaps.reclaim();
    world_.heaps.sweep();
    EXPECT_GT(world_.heaps.swept_bytes(), kFull * kChunkBytes / kHugeSplitParts / 4) << "a trim purges everything";
    EXPECT_LT(huge_chunks(), kFull);
    EXPECT_TRUE(world_.is_valid());
}

}  // namespace gr::huge_test
