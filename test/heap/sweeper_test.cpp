// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a sweep by itself: what it claims while a page goes, what a refusal leaves, how far a step goes and where the next
//    one goes on, and which heap gets blocks whose superblock changed hands meanwhile.
// Invariant: every superblock keeps its first block in use, so that none falls empty.
// Must not know: which free begins a sweep.
#include "heap/sweeper.hpp"

#include "heap/parts.hpp"

namespace gr::sweeper_test {

using fake::kHeapA;
using fake::kHeapB;

constexpr ClassIndex kClass = class_of(256);
constexpr std::size_t kOneBlock = shape_of(kClass).size;
constexpr std::uint32_t kUnits = kUnitsPerChunk;
static_assert(shape_of(kClass).units == 1);

class SweeperTest : public testing::Test {
  protected:
    explicit SweeperTest(const fake::PartsSetup &setup = {}) : parts_(setup) {}

    // Superblocks of heap A, of which only so many bytes at the start stay in use; those that are too empty for it go to
    // the global heap.
    void make(std::uint32_t superblocks, std::size_t used) {
        std::vector<std::vector<void *>> held;
        while (held.size() < superblocks) held.push_back(parts_.take_all(kHeapA, kClass));
        const std::uint32_t kept = static_cast<std::uint32_t>(used / shape_of(kClass).size);
        for (const auto &blocks : held) parts_.give_back(kHeapA, blocks, kept, each_ - kept);
    }
    // How much must become free for a step of one chunk, once a sweep has begun.
    std::size_t pace() const {
        return parts_.global_free.growth_for(parts_.pages.may_stay() / kSweepParts) / parts_.region.chunk_count();
    }
    // Bytes given back of each chunk since the last look.
    std::vector<std::size_t> purged_by_chunk() {
        std::vector<std::size_t> bytes(parts_.region.chunk_count());
        const std::vector<fake::Range> &purged = fake::purged();
        for (; seen_ < purged.size(); ++seen_)
            bytes[parts_.region.chunk_of(parts_.region.unit_of(purged[seen_].begin)).value] += purged[seen_].bytes;
        return bytes;
    }
    const Bin &bin(OwnerIndex o) const { return parts_.owners.bin_of(o, kClass); }

    fake::Parts parts_;
    Sweeper sweeper_{parts_.ownership, parts_.global_free, parts_.region, parts_.superblocks, parts_.pages};
    const std::uint32_t each_ = shape_of(kClass).blocks;
    const std::size_t page_ = platform::page_size();
    std::size_t seen_ = 0;
};

TEST_F(SweeperTest, WhatACollectionFoundRestedGivesItsPagesBack) {
    make(2, kOneBlock);
    Superblock *const rested = parts_.superblocks.descriptor(parts_.region.first_unit());
    rested->rested = true;
    sweeper_.sweep_rested();
    std::size_t bytes = 0;
    for (const fake::Range &range : fake::purged()) {
        EXPECT_EQ(parts_.region.unit_of(range.begin), rested->unit);
        bytes += range.bytes;
    }
    EXPECT_EQ(bytes, kUnitBytes - page_);
}

TEST_F(SweeperTest, BlocksOfAPageThatGoesAreInUseMeanwhileAndNoLockIsHeld) {
    make(1, kOneBlock);
    const std::uint64_t free = bin(kHeapA).free_blocks();
    unsigned purges = 0;
    fake::on_purge([&] {
        ++purges;
        EXPECT_LT(bin(kHeapA).free_blocks(), page_ / shape_of(kClass).size) << "more than those of the first page";
        EXPECT_FALSE(parts_.owners.owner(kHeapA).mutex.is_held());
    });
    EXPECT_EQ(sweeper_.sweep(), kUnitBytes - page_);
    fake::on_purge(nullptr);
    EXPECT_EQ(purges, 1U) << "neighbours go together";
    EXPECT_EQ(bin(kHeapA).free_blocks(), free);
    EXPECT_EQ(parts_.pages.absent_bytes(), sweeper_.swept_bytes());
    EXPECT_EQ(sweeper_.sweep(), 0U) << "what is gone went again";
}

TEST_F(SweeperTest, WhatTheKernelRefusesIsFreeAndPresent) {
    make(1, kOneBlock);
    const std::uint64_t free = bin(kHeapA).free_blocks();
    fake::fail(fake::Call::purge, 0);
    EXPECT_EQ(sweeper_.sweep(), 0U);
    EXPECT_EQ(bin(kHeapA).free_blocks(), free);
    EXPECT_EQ(parts_.pages.absent_bytes(), 0U);
    EXPECT_EQ(sweeper_.swept_bytes(), 0U);
}

TEST_F(SweeperTest, BlocksGoToWhoeverOwnsTheSuperblockThen) {
    make(1, kOneBlock);
    const std::uint64_t free = bin(kHeapA).free_blocks();
    fake::on_purge([&] {
        parts_.holding(kHeapA, [&] {
            ASSERT_TRUE(parts_.owners.try_lock(kHeapB));
            EXPECT_NE(parts_.ownership.take_from(kHeapA, kHeapB, kClass), nullptr);
            parts_.remote.unlock_and_settle(kHeapB);
        });
    });
    EXPECT_GT(sweeper_.sweep(), 0U);
    EXPECT_EQ(bin(kHeapA).free_blocks(), 0U);
    EXPECT_EQ(bin(kHeapB).free_blocks(), free);
    EXPECT_TRUE(bin(kHeapB).is_valid(parts_.superblocks));
}

TEST_F(SweeperTest, WhatIsGoneIsNoSlack) {
    make(8, kOneBlock);
    ASSERT_GT(bin(owner_of_global(kClass)).superblocks(), 0U);
    sweeper_.sweep();
    std::size_t idle = 0;
    bin(owner_of_global(kClass)).for_each([&](const Superblock *s) { idle += parts_.superblocks.idle_bytes(s); });
    EXPECT_EQ(parts_.global_free.bytes(), idle);
}

TEST_F(SweeperTest, AStepGoesAsFarAsWhatBecameFreeAndTheNextOneGoesOn) {
    constexpr std::uint32_t kChunks = 3;
    make(kChunks * kUnits, kOneBlock);
    sweeper_.sweep_if_due();
    EXPECT_EQ(fake::purged().size(), 0U) << "it has begun, no more";
    ASSERT_GE(parts_.region.chunk_count(), kChunks);
    const std::size_t step = pace();
    for (std::uint32_t chunk = 0; chunk < kChunks; ++chunk) {
        parts_.global_free.add(step - 1);
        sweeper_.sweep_if_due();
        EXPECT_EQ(fake::purged().size(), seen_) << "too early";
        parts_.global_free.add(1);
        sweeper_.sweep_if_due();
        const std::vector<std::size_t> bytes = purged_by_chunk();
        for (std::uint32_t c = 0; c < kChunks; ++c)
            EXPECT_EQ(bytes[c], c == chunk ? kUnits * (kUnitBytes - page_) : 0U) << c << " in step " << chunk;
    }
}

TEST_F(SweeperTest, WhoeverIsAtItIsNotWaitedFor) {
    make(kUnits, kOneBlock);
    const platform::Rank rank = platform::Rank::sweep;
    fake::Parts::while_held_elsewhere(sweeper_.mutex(), rank, [&] { sweeper_.sweep_if_due(); });
    parts_.global_free.add(parts_.pages.may_stay());
    sweeper_.sweep_if_due();
    EXPECT_EQ(sweeper_.swept_bytes(), 0U) << "it had begun";
    parts_.global_free.add(parts_.pages.may_stay());
    sweeper_.sweep_if_due();
    EXPECT_GT(sweeper_.swept_bytes(), 0U);
}

class SweeperOfHugePages : public SweeperTest {
  protected:
    SweeperOfHugePages() : SweeperTest({.maker = HugePageMaker::kernel}) {}
    void sweep_by_steps() {
        sweeper_.sweep_if_due();
        parts_.global_free.add(parts_.pages.may_stay());
        sweeper_.sweep_if_due();
    }
};

TEST_F(SweeperOfHugePages, OneIsSplitForMuch) {
    make(kUnits, kUnitBytes - kUnitBytes / kHugeSplitParts);
    parts_.global_free.add(parts_.pages.may_stay());
    sweep_by_steps();
    EXPECT_EQ(sweeper_.swept_bytes(), kChunkBytes / kHugeSplitParts);
    EXPECT_FALSE(parts_.pages.huge_pages().may_be_huge(ChunkIndex(0)));
}

TEST_F(SweeperOfHugePages, OneIsSplitForLittleByWhoTrimsOnly) {
    make(kUnits, kUnitBytes - kUnitBytes / kHugeSplitParts + page_);
    parts_.global_free.add(parts_.pages.may_stay());
    sweep_by_steps();
    EXPECT_EQ(sweeper_.swept_bytes(), 0U);
    EXPECT_TRUE(parts_.pages.huge_pages().may_be_huge(ChunkIndex(0)));
    EXPECT_GT(sweeper_.sweep(), 0U);
    EXPECT_FALSE(parts_.pages.huge_pages().may_be_huge(ChunkIndex(0)));
}

}  // namespace gr::sweeper_test
