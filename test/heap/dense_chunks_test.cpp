// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which chunks are made huge pages: those that are full of superblocks whose pages hold something.
// Invariant: the heap is large by one long run, whose chunks are never dense; the first chunk is the one in question.
// Must not know: what decides when; how the kernel is asked.
#include "heap/dense_chunks.hpp"

#include "heap/acquire_run.hpp"
#include "heap/parts.hpp"
#include "heap/sweeper.hpp"

namespace gr::dense_chunks_test {

using fake::kHeapA;

constexpr ClassIndex kClass = class_of(256);
constexpr std::uint32_t kLarge = kHugeHeapBytes / kUnitBytes;  // units
constexpr unsigned kTicks = 4;                                 // more than two visits of each chunk take

class DenseChunksTest : public testing::Test {
  protected:
    // The first chunk's: superblocks, but for the last so many units.
    void fill(std::uint32_t but) {
        for (std::uint32_t i = 0; i < kUnitsPerChunk - but; ++i) blocks_.push_back(parts_.take_all(kHeapA, kClass));
    }
    Superblock *acquire_run(std::uint32_t units) { return fake::acquire_run(parts_.store, parts_.superblocks, units); }
    void become_large() { ASSERT_NE(acquire_run(kLarge), nullptr); }
    void tick() {
        for (unsigned i = 0; i < kTicks; ++i) dense_chunks_.make_huge_pages_of_tick();
    }
    bool is_huge() const { return parts_.pages.huge_pages().may_be_huge(ChunkIndex(0)); }

    fake::Parts parts_{{.chunks = 40, .maker = HugePageMaker::us}};
    DenseChunks dense_chunks_{parts_.ownership, parts_.region, parts_.superblocks, parts_.pages};
    std::vector<std::vector<void *>> blocks_;
    const std::uint32_t each_ = shape_of(kClass).blocks;
};

TEST_F(DenseChunksTest, OneThatIsFullIsMade) {
    fill(0);
    tick();
    EXPECT_FALSE(is_huge()) << "the heap is not large";
    become_large();
    tick();
    EXPECT_TRUE(is_huge());
    ASSERT_EQ(fake::collapsed().size(), 1U) << "the run's are none";
    EXPECT_EQ(fake::collapsed()[0].begin, parts_.region.address(parts_.region.first_unit()));
}

TEST_F(DenseChunksTest, ASlowPathMakesOneToo) {
    fill(0);
    become_large();
    dense_chunks_.make_huge_pages();
    EXPECT_GT(parts_.pages.huge_pages().not_before(), 0U) << "no chunk was looked at";
}

TEST_F(DenseChunksTest, OneWithAFreeUnitIsNot) {
    fill(1);
    become_large();
    ASSERT_EQ(parts_.store.entry(parts_.region.first_unit() + UnitCount(kUnitsPerChunk - 1)), 0U);
    tick();
    EXPECT_FALSE(is_huge());
}

TEST_F(DenseChunksTest, OneWithARunIsNot) {
    fill(1);
    const Superblock *const run = acquire_run(1);
    ASSERT_EQ(run->unit, parts_.region.first_unit() + UnitCount(kUnitsPerChunk - 1));
    become_large();
    tick();
    EXPECT_FALSE(is_huge());
}

TEST_F(DenseChunksTest, OneWithPagesThatWereGivenBackIsNotUntilTheyAreTakenAgain) {
    fill(0);
    become_large();
    parts_.give_back(kHeapA, blocks_[0], 1, each_ - 1);
    parts_.give_back(kHeapA, blocks_[1], 1, each_ - 1);
    Sweeper sweeper(parts_.ownership, parts_.global_free, parts_.region, parts_.superblocks, parts_.pages);
    ASSERT_GT(sweeper.sweep(), kChunkBytes / kHugeAbsentParts);
    tick();
    EXPECT_FALSE(is_huge());
    parts_.holding(kHeapA, [&] {
        while (Superblock *const s = parts_.owners.bin_of(kHeapA, kClass).fullest()) {
            std::vector<void *> blocks(each_);
            const std::uint32_t taken = parts_.superblocks.take(s, {blocks.data(), each_});
            parts_.owners.heap(kHeapA).bins[kClass.value].took(s, taken);
        }
    });
    tick();
    EXPECT_TRUE(is_huge());
}

TEST_F(DenseChunksTest, OneWhoseBlocksWereNeverTouchedIsNot) {
    for (std::uint32_t i = 0; i < kUnitsPerChunk; ++i)
        parts_.holding(kHeapA, [&] { ASSERT_NE(parts_.ownership.take_new(kHeapA, kClass, Prefer::warm), nullptr); });
    become_large();
    tick();
    EXPECT_FALSE(is_huge());
}

TEST_F(DenseChunksTest, NoneIsAboveTheSoftLimit) {
    fill(0);
    become_large();
    parts_.pages.limit().initialise(1, MemoryLimit::kNone);
    tick();
    dense_chunks_.make_huge_pages();
    EXPECT_FALSE(is_huge());
    EXPECT_EQ(parts_.pages.huge_pages().not_before(), 0U) << "a chunk was looked at";
}

}  // namespace gr::dense_chunks_test
