// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      gr_resize_in_place and gr_heap_resize_in_place.
// Invariant: a block never moves; what it holds stays; the size that is returned is the usable size.
// Must not know: how the allocator finds room behind a block.
#include "families.hpp"

#include <sys/mman.h>
#include <set>
#include <utility>

namespace gr::conformance {
namespace {

constexpr std::size_t kUnit = 64 * kKiB;

template <class Of>
class InPlace : public OnEither<Of> {
  protected:
    // A run that ends where another begins, out of some that are freed in the end.
    char *enclosed_run(std::size_t size) {
        while (runs_.size() < 32) runs_.insert(static_cast<char *>(opaque(this->of_.allocate(size))));
        for (char *run : runs_) {
            if (runs_.contains(run + size)) return run;
        }
        return nullptr;
    }
    void release_runs() {
        for (char *run : runs_) this->of_.release(run);
    }

  private:
    std::set<char *> runs_;
};
TYPED_TEST_SUITE(InPlace, Families);

TYPED_TEST(InPlace, SmallBlocksHaveAFixedSize) {
    for (std::size_t size : class_sizes()) {
        void *const block = opaque(this->of_.allocate(size));
        const std::size_t usable = this->of_.usable(block);
        fill(block, usable, size);
        for (std::size_t least : {std::size_t{0}, std::size_t{1}, usable}) {
            for (std::size_t wanted : {std::size_t{0}, usable, 2 * usable, SIZE_MAX}) {
                EXPECT_EQ(this->of_.resize(block, least, wanted), usable) << size;
            }
        }
        EXPECT_EQ(this->of_.resize(block, usable + 1, usable + 1), 0u) << size;
        EXPECT_EQ(this->of_.resize(block, SIZE_MAX, SIZE_MAX), 0u) << size;
        EXPECT_EQ(this->of_.usable(block), usable);
        EXPECT_TRUE(filled(block, usable, size));
        this->of_.release(block);
    }
}

TYPED_TEST(InPlace, RunsShrinkAndGrowAgain) {
    void *const block = opaque(this->of_.allocate(kMiB));
    fill(block, kMiB, 1);
    const gr_statistics before = this->of_.statistics();
    EXPECT_EQ(this->of_.resize(block, 0, 100 * kKiB), 2 * kUnit);
    EXPECT_EQ(this->of_.usable(block), 2 * kUnit);
    EXPECT_EQ(this->of_.statistics().run_bytes, before.run_bytes - (kMiB - 2 * kUnit)) << "what is left is free";
    EXPECT_TRUE(filled(block, 2 * kUnit, 1));
    EXPECT_EQ(this->of_.resize(block, kMiB - 1, kMiB - 1), kMiB);
    EXPECT_EQ(this->of_.usable(block), kMiB);
    EXPECT_EQ(this->of_.statistics().run_bytes, before.run_bytes);
    EXPECT_TRUE(filled(block, 2 * kUnit, 1));
    fill(block, kMiB, 2);
    EXPECT_EQ(this->of_.resize(block, 0, 0), kUnit) << "the least that a run has";
    EXPECT_TRUE(filled(block, kUnit, 2));
    this->of_.release(block);
}

TYPED_TEST(InPlace, ARunStopsWhereAnotherBegins) {
    char *const block = this->enclosed_run(kUnit);
    ASSERT_NE(block, nullptr);
    fill(block, kUnit, 3);
    EXPECT_EQ(this->of_.resize(block, kUnit + 1, kUnit + 1), 0u);
    EXPECT_EQ(this->of_.resize(block, kUnit + 1, 10 * kMiB), 0u);
    EXPECT_EQ(this->of_.resize(block, kUnit, 10 * kMiB), kUnit) << "it has what it needs";
    EXPECT_EQ(this->of_.usable(block), kUnit);
    EXPECT_TRUE(filled(block, kUnit, 3));
    this->release_runs();
}

TYPED_TEST(InPlace, WhereThereIsNotAllOfItTheLeastIsTaken) {
    char *const block = this->enclosed_run(4 * kUnit);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(this->of_.resize(block, kUnit, kUnit), kUnit);
    EXPECT_EQ(this->of_.resize(block, kUnit + 1, 10 * kMiB), 2 * kUnit) << "there is room, but not for so much";
    EXPECT_EQ(this->of_.resize(block, 2 * kUnit, 4 * kUnit), 4 * kUnit);
    this->release_runs();
}

TYPED_TEST(InPlace, DirectBlocksShrinkAndGrowByPages) {
    void *const block = opaque(this->of_.allocate(64 * kMiB));
    fill(block, 64 * kMiB, 4);
    const gr_statistics before = this->of_.statistics();
    ASSERT_GE(before.direct_count, 1u);
    EXPECT_EQ(this->of_.resize(block, 1, 40 * kMiB + 1), 40 * kMiB + 4 * kKiB);
    EXPECT_EQ(this->of_.statistics().direct_bytes, before.direct_bytes - (24 * kMiB - 4 * kKiB));
    EXPECT_TRUE(filled(block, 40 * kMiB, 4));
    EXPECT_EQ(this->of_.resize(block, 41 * kMiB, 64 * kMiB), 64 * kMiB) << "its own old place is free";
    EXPECT_EQ(this->of_.statistics().direct_bytes, before.direct_bytes);
    EXPECT_TRUE(filled(block, 40 * kMiB, 4));
    const bool has_junk = std::getenv("GRANARY_JUNK") != nullptr;
    EXPECT_TRUE(has_junk || all_zero(static_cast<char *>(block) + 41 * kMiB, 23 * kMiB));
    this->of_.release(block);
}

TYPED_TEST(InPlace, ADirectBlockStopsWhereAnotherMappingIs) {
    char *const block = static_cast<char *>(opaque(this->of_.allocate(64 * kMiB)));
    fill(block, 64 * kMiB, 5);
    ASSERT_EQ(this->of_.resize(block, 1, 40 * kMiB), 40 * kMiB);
    void *const place = block + 40 * kMiB;
    void *const other = mmap(place, kUnit, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    ASSERT_EQ(other, place);
    EXPECT_EQ(this->of_.resize(block, 41 * kMiB, 64 * kMiB), 0u);
    EXPECT_EQ(this->of_.resize(block, 39 * kMiB, 64 * kMiB), 40 * kMiB);
    EXPECT_EQ(this->of_.usable(block), 40 * kMiB);
    EXPECT_TRUE(filled(block, 40 * kMiB, 5));
    munmap(other, kUnit);
    this->of_.release(block);
}

TYPED_TEST(InPlace, WhatNoBlockCanHaveIsRefused) {
    for (std::size_t size : {std::size_t{100}, kMiB, 64 * kMiB}) {
        void *const block = opaque(this->of_.allocate(size));
        const std::size_t usable = this->of_.usable(block);
        for (std::size_t least : {kPtrdiffMax, kPtrdiffMax + 1, SIZE_MAX}) {
            EXPECT_EQ(this->of_.resize(block, least, 0), 0u) << size;
            EXPECT_EQ(this->of_.resize(block, least, SIZE_MAX), 0u) << size;
            EXPECT_GE(this->of_.resize(block, 1, least), usable) << size;
        }
        this->of_.release(block);
    }
}

TYPED_TEST(InPlace, NullIsNoBlockAndErrnoStays) {
    errno = 1234;
    EXPECT_EQ(this->of_.resize(nullptr, 0, 0), 0u);
    EXPECT_EQ(this->of_.resize(nullptr, 1, 100), 0u);
    for (std::size_t size : {std::size_t{100}, kMiB, 64 * kMiB}) {
        void *const block = opaque(this->of_.allocate(size));
        this->of_.resize(block, SIZE_MAX, SIZE_MAX);
        this->of_.resize(block, 1, 50 * kKiB);
        this->of_.resize(block, 1, 70 * kMiB);
        this->of_.release(block);
    }
    EXPECT_EQ(errno, 1234);
}

TYPED_TEST(InPlace, BlocksKeepWhatTheyHoldInAnyOrder) {
    Sequence random(11);
    struct Block {
        void *place;
        std::size_t size;
    };
    std::vector<Block> blocks(40, Block{nullptr, 0});
    for (uint64_t step = 0; step < 3000; ++step) {
        const uint64_t key = random.below(blocks.size());
        Block &block = blocks[key];
        if (block.place == nullptr) {
            block = {opaque(this->of_.allocate(1 + random.below(400 * kKiB))), 0};
            block.size = this->of_.usable(block.place);
            fill(block.place, block.size, key);
            continue;
        }
        ASSERT_TRUE(filled(block.place, block.size, key)) << step;
        if (random.below(10) == 0) {
            this->of_.release(std::exchange(block.place, nullptr));
            continue;
        }
        const std::size_t least = random.below(600 * kKiB);
        const std::size_t size = this->of_.resize(block.place, least, least + random.below(300 * kKiB));
        ASSERT_EQ(this->of_.usable(block.place), size == 0 ? block.size : size);
        if (size == 0) continue;
        ASSERT_GE(size, least);
        ASSERT_TRUE(filled(block.place, std::min(size, block.size), key)) << step;
        block.size = size;
        fill(block.place, size, key);
    }
    for (const Block &block : blocks) this->of_.release(block.place);
}

}  // namespace
}  // namespace gr::conformance
