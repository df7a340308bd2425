// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the unit tests of lab/parts/hoard/emptiness_heaps.hpp: figure 2's moves, one by one, and its invariant after each of many
//    operations.
// Invariant: the test says which heap is the caller's; memory is never given back.
// Must not know: the paper's defaults.
#include "parts/hoard/emptiness_heaps.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "lab/parts/validity.hpp"
#include "parts/composed/heaps_and_large.hpp"

namespace gr::lab::emptiness_heaps_test {

struct Told {
    static unsigned count() { return 2; }
    static unsigned of_caller(unsigned count) { return heap % count; }
    static inline unsigned heap = 0;  // the number of its own, less one
};

struct Options {
    static constexpr std::array<Option, 5> kTable{{
        {.name = "f", .parts = 8, .value = 2, .least = 1, .most = 7, .told = ""},
        {.name = "K", .parts = 1, .value = 4, .least = 0, .most = 64, .told = ""},
        {.name = "S",
         .parts = 1,
         .value = 8 * kKiB,
         .least = 4 * kKiB,
         .most = 64 * kKiB,
         .told = "",
         .is_power_of_two = true},
        {.name = "b", .parts = 100, .value = 120, .least = 105, .most = 200, .told = ""},
        {.name = "e", .parts = 1, .value = 1, .least = 0, .most = 1, .told = ""},
    }};
};

using Heaps = EmptinessHeaps<Told, 2, Options>;
static_assert(SmallHeaps<Heaps>);
constexpr HeapNumber kHeaps = 4;

class Emptiness : public testing::Test {
  protected:
    void SetUp() override { start("K=0"); }
    void start(const std::string &options) {
        setenv("GRANARY_LAB", options.c_str(), 1);
        heaps_ = std::make_unique<Heaps>();
        ASSERT_TRUE(heaps_->start());
        unsetenv("GRANARY_LAB");
        ASSERT_EQ(heaps_->heap_count(), kHeaps);
        bin_ = heaps_->classes().bin_of(kSize);
    }
    void *take(HeapNumber heap, std::size_t size = kSize) {
        Told::heap = heap - 1;
        void *const block = heaps_->take(size);
        EXPECT_NE(block, nullptr);
        return block;
    }
    std::vector<void *> take_many(HeapNumber heap, std::size_t count) {
        std::vector<void *> blocks;
        for (std::size_t i = 0; i < count; ++i) blocks.push_back(take(heap));
        return blocks;
    }
    void put(HeapNumber heap, void *block) {
        Told::heap = heap - 1;
        heaps_->put(block);
    }
    static Container *superblock(void *block) { return Heaps::container_of(block); }
    static HeapNumber owner(void *block) { return superblock(block)->heap.load(); }
    std::size_t u(HeapNumber heap) { return heaps_->groups(heap, bin_).used(); }
    std::size_t a(HeapNumber heap) { return heaps_->groups(heap, bin_).blocks(); }

    static constexpr std::size_t kSize = 992;  // a class
    static constexpr std::size_t kBlocks = 8;  // of a superblock of 8 KiB
    std::unique_ptr<Heaps> heaps_;
    unsigned bin_ = 0;
};

TEST_F(Emptiness, ANewSuperblockBelongsToTheCallersHeap) {
    void *const block = take(2);
    EXPECT_EQ(owner(block), 2U);
    EXPECT_EQ(superblock(block)->blocks, kBlocks);
    EXPECT_EQ(u(2), 1U);
    EXPECT_EQ(a(2), kBlocks);
    EXPECT_EQ(a(0) + a(1), 0U);
}

// Figure 1, top right: y4 goes back to its own superblock, whoever freed it.
TEST_F(Emptiness, AFreedBlockGoesToTheHeapThatOwnsItsSuperblock) {
    const std::vector<void *> blocks = take_many(2, kBlocks);
    put(1, blocks[3]);
    EXPECT_EQ(u(2), kBlocks - 1);
    EXPECT_EQ(a(1), 0U);
    EXPECT_EQ(take(2), blocks[3]);
}

// The paper leaves open which superblock of heap 0 line 6 takes.
TEST_F(Emptiness, HeapZeroGivesAnEmptySuperblockOrTheFullestFirst) {
    for (const char *const options : {"K=0,e=1", "K=0,e=0"}) {
        start(options);
        const std::vector<void *> blocks = take_many(1, 2 * kBlocks);
        for (std::size_t i = kBlocks; i < 2 * kBlocks; ++i) put(1, blocks[i]);
        for (std::size_t i = 0; i < 3; ++i) put(1, blocks[i]);
        ASSERT_EQ(owner(blocks[0]), 0U);
        ASSERT_EQ(a(1), 0U);
        Container *const empty = superblock(blocks[kBlocks]);
        Container *const partly_full = superblock(blocks[0]);
        EXPECT_EQ(superblock(take(2)), options[6] == '1' ? empty : partly_full) << options;
    }
}

// Figure 1, bottom: the free that crosses the threshold moves the superblock that is at least f empty, and only that.
TEST_F(Emptiness, ASuperblockAtLeastFEmptyMovesWhenTheThresholdIsCrossed) {
    const std::vector<void *> blocks = take_many(1, 2 * kBlocks);
    Container *const emptied = superblock(blocks[kBlocks]);
    for (std::size_t freed = 1; freed <= kBlocks / 2; ++freed) {
        put(1, blocks[kBlocks + freed - 1]);
        EXPECT_EQ(a(1), 2 * kBlocks) << freed << " of 16 are free";
    }
    put(1, blocks[kBlocks + kBlocks / 2]);
    EXPECT_EQ(emptied->heap.load(), 0U);
    EXPECT_EQ(a(1), kBlocks);
    EXPECT_EQ(u(1), kBlocks);
    EXPECT_EQ(a(0), kBlocks);
    EXPECT_EQ(u(0), kBlocks / 2 - 1);
}

TEST_F(Emptiness, HeapZerosSuperblockIsTransferredBeforeANewOneIsMade) {
    const std::vector<void *> blocks = take_many(1, 2 * kBlocks);
    for (std::size_t i = kBlocks; i < kBlocks + kBlocks / 2 + 1; ++i) put(1, blocks[i]);
    void *const block = take(3);
    EXPECT_EQ(superblock(block), superblock(blocks[kBlocks]));
    EXPECT_EQ(owner(block), 3U);
    EXPECT_EQ(u(3), kBlocks / 2);
    EXPECT_EQ(a(3), kBlocks);
    EXPECT_EQ(a(0) + u(0), 0U);
    // What the other heap's thread still has in it goes to the new owner.
    put(1, blocks.back());
    EXPECT_EQ(u(1), kBlocks);
    EXPECT_EQ(u(3) + u(0), kBlocks / 2 - 1);
}

// Line 8, and 3: an empty superblock serves any class.
TEST_F(Emptiness, WhatIsFreedInHeapZeroStaysAndEmptyOnesAreForAnyClass) {
    const std::vector<void *> blocks = take_many(1, 2 * kBlocks);
    for (std::size_t i = kBlocks; i < 2 * kBlocks; ++i) put(1, blocks[i]);
    EXPECT_EQ(a(0), 0U) << "an empty one is of no class";
    void *const other = take(4, 64);
    EXPECT_EQ(superblock(other), superblock(blocks[kBlocks]));
    EXPECT_EQ(owner(other), 4U);
    EXPECT_GT(superblock(other)->blocks, kBlocks);
}

TEST_F(Emptiness, KSuperblocksMayBeFree) {
    start("K=2");
    const std::vector<void *> blocks = take_many(1, 4 * kBlocks);
    for (std::size_t i = 0; i < 2 * kBlocks; ++i) put(1, blocks[i]);
    EXPECT_EQ(a(1), 4 * kBlocks);
    put(1, blocks[2 * kBlocks]);
    EXPECT_EQ(a(1), 3 * kBlocks);
}

TEST_F(Emptiness, BlocksOfASuperblockWithNoneInUseAreRefused) {
    void *const block = take(1);
    put(1, block);
    EXPECT_DEATH(put(1, block), "not a block in use");
}

class Invariant : public Emptiness, public testing::WithParamInterface<const char *> {
  protected:
    void SetUp() override { start(GetParam()); }

    struct Block {
        unsigned char *bytes;
        std::size_t size;
        unsigned char filler;
    };
    void allocate() {
        const std::size_t size = random_() % 8 == 0 ? random_() % heaps_->classes().largest() : kSizes[random_() % 4];
        const HeapNumber heap = random_heap();
        Block block{static_cast<unsigned char *>(take(heap, size)), size, static_cast<unsigned char>(random_())};
        std::memset(block.bytes, block.filler, size);
        blocks_.push_back(block);
        if (heaps_->threshold().slack_superblocks > 0) expect_invariant(heap, size);
    }
    void free() {
        std::swap(blocks_[random_() % blocks_.size()], blocks_.back());
        const Block block = blocks_.back();
        blocks_.pop_back();
        for (std::size_t i = 0; i < block.size; ++i) ASSERT_EQ(block.bytes[i], block.filler);
        const HeapNumber heap = owner(block.bytes);
        put(random_heap(), block.bytes);
        if (heap != 0) expect_invariant(heap, block.size);
    }
    void expect_all_valid() {
        std::size_t used = 0;
        for (unsigned bin = 0; bin < heaps_->classes().bins(); ++bin)
            for (HeapNumber heap = 0; heap <= kHeaps; ++heap) {
                ASSERT_TRUE(is_valid(heaps_->groups(heap, bin)));
                used += heaps_->groups(heap, bin).used();
            }
        ASSERT_EQ(used, blocks_.size());
    }

    std::mt19937 random_{7};
    std::vector<Block> blocks_;

  private:
    static constexpr std::size_t kSizes[] = {16, 100, 700, 1500};

    HeapNumber random_heap() { return 1 + random_() % kHeaps; }
    void expect_invariant(HeapNumber heap, std::size_t size) {
        const FullnessGroups &groups = heaps_->groups(heap, heaps_->classes().bin_of(size));
        const EmptinessThreshold &t = heaps_->threshold();
        const double u = static_cast<double>(groups.used());
        const double a = static_cast<double>(groups.blocks());
        const double s = groups.emptiest() == nullptr ? 0 : groups.emptiest()->blocks;
        const double f = static_cast<double>(t.empty_groups) / EmptinessThreshold::kGroups;
        ASSERT_TRUE(u >= a - static_cast<double>(t.slack_superblocks) * s || u >= (1 - f) * a)
            << "heap " << heap << ", size " << size << ": u " << u << ", a " << a;
    }
};

TEST_P(Invariant, HoldsAfterEachOperation) {
    // Growing, steady, shrinking.
    for (const unsigned of_ten : {7U, 5U, 2U}) {
        for (int i = 0; i < 6000 && !HasFatalFailure(); ++i) {
            if (blocks_.empty() || random_() % 10 < of_ten)
                allocate();
            else
                free();
            if (i % 500 == 0) expect_all_valid();
        }
    }
    while (!blocks_.empty() && !HasFatalFailure()) free();
    expect_all_valid();
}

INSTANTIATE_TEST_SUITE_P(Settings, Invariant,
                         testing::Values("", "K=0", "f=1/8,K=1,S=4096", "f=1/2,K=0,b=1.4", "f=7/8,K=0,S=16384",
                                         "f=1/8,K=0,S=65536,b=2", "f=3/8,K=2,S=4096,b=1.05", "e=0", "K=0,e=0"));

// Threads that free each other's blocks while superblocks change their owners.
TEST(EmptinessOfThreads, NothingIsLostAndNothingIsGivenTwice) {
    using Threaded = EmptinessHeaps<ByThreadHash, 1, Options>;
    static HeapsAndLarge<Threaded> allocator;
    constexpr unsigned kThreads = 4;
    constexpr unsigned kPlaces = 256;
    static std::atomic<std::uint64_t *> places[kPlaces];
    std::vector<std::thread> threads;
    std::atomic<unsigned> wrong{0};
    for (unsigned t = 0; t < kThreads; ++t)
        threads.emplace_back([&wrong, t] {
            std::mt19937 random(t);
            for (unsigned i = 0; i < 60000; ++i) {
                std::uint64_t *mine = nullptr;
                if (random() % 2 == 0) {
                    mine = static_cast<std::uint64_t *>(allocator.allocate(16 + random() % 600));
                    mine[0] = mine[1] = reinterpret_cast<std::uintptr_t>(mine);
                }
                std::uint64_t *const other = places[random() % kPlaces].exchange(mine);
                if (other == nullptr) continue;
                if (other[0] != reinterpret_cast<std::uintptr_t>(other) || other[1] != other[0]) ++wrong;
                allocator.free(other);
            }
        });
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(wrong, 0U);
    for (auto &place : places)
        if (std::uint64_t *const block = place.exchange(nullptr)) allocator.free(block);
    Threaded &heaps = allocator.heaps();
    for (unsigned bin = 0; bin < heaps.classes().bins(); ++bin)
        for (HeapNumber heap = 0; heap <= heaps.heap_count(); ++heap) {
            EXPECT_EQ(heaps.groups(heap, bin).used(), 0U);
            EXPECT_TRUE(is_valid(heaps.groups(heap, bin)));
            EXPECT_TRUE(heap == 0 || !heaps.groups(heap, bin).crosses(heaps.threshold()));
        }
}

}  // namespace gr::lab::emptiness_heaps_test
