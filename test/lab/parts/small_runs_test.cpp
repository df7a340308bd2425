// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a run of small regions: its sizes by figure 4, its length, its bitmap against a set, its states by figure 5.
// Invariant: every size of every legal quantum and limit is tried.
// Must not know: arenas.
#include "parts/jemalloc/small_run.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>
#include <vector>

namespace gr::lab::small_runs_test {

constexpr unsigned kPaperLimit = 9;

template <class Visit>
void for_all_bins(Visit visit) {
    for (unsigned quantum = QuantumBins::kLeastQuantumShift; quantum < QuantumBins::kMostShift; ++quantum)
        for (unsigned limit = QuantumBins::kLeastQuantumShift; limit <= QuantumBins::kMostShift; ++limit)
            for (const unsigned least : {QuantumBins::kLeastTinyShift, QuantumBins::kLeastQuantumShift})
                visit(QuantumBins(least, quantum, limit));
}

TEST(QuantumBinsTest, ThePapersAreThoseOfFigure4) {
    std::vector<std::size_t> expected{2, 4, 8};
    for (std::size_t size = 16; size <= 512; size += 16) expected.push_back(size);
    expected.insert(expected.end(), {1024, 2048});
    const QuantumBins bins(QuantumBins::kLeastTinyShift, QuantumBins::kLeastQuantumShift, kPaperLimit);
    std::vector<std::size_t> sizes;
    for (unsigned bin = 0; bin < bins.count(); ++bin) sizes.push_back(bins.size_of(bin));
    EXPECT_EQ(sizes, expected);
}

TEST(QuantumBinsTest, ThoseOfTheWidestAlignmentHaveNoTinyOnes) {
    const QuantumBins bins(QuantumBins::kLeastQuantumShift, QuantumBins::kLeastQuantumShift, kPaperLimit);
    EXPECT_EQ(bins.size_of(0), 16U);
    EXPECT_EQ(bins.bin_of(0), 0U);
    EXPECT_EQ(bins.count(), 34U);
}

TEST(QuantumBinsTest, ABinIsTheSmallestThatHoldsASize) {
    for_all_bins([](const QuantumBins &bins) {
        ASSERT_LE(bins.count(), QuantumBins::kMostBins);
        for (std::size_t size = 0; size <= QuantumBins::largest(); ++size) {
            const unsigned bin = bins.bin_of(size);
            ASSERT_LT(bin, bins.count());
            ASSERT_GE(bins.size_of(bin), size);
            if (bin != 0) {
                ASSERT_LT(bins.size_of(bin - 1), size);
            }
        }
    });
}

TEST(QuantumBinsTest, AMultipleOfAPowerOfTwoIsServedByOne) {
    for_all_bins([](const QuantumBins &bins) {
        for (std::size_t alignment = 1; alignment <= QuantumBins::largest(); alignment *= 2)
            for (std::size_t size = alignment; size <= QuantumBins::largest(); size += alignment)
                ASSERT_EQ(bins.size_of(bins.bin_of(size)) % alignment, 0U) << size;
    });
}

TEST(RunShapeTest, HeadersWasteOnePartAtMost) {
    for_all_bins([](const QuantumBins &bins) {
        for (unsigned bin = 0; bin < bins.count(); ++bin) {
            const RunShape shape(bins.size_of(bin));
            ASSERT_LE(SmallRun::bytes_for(shape.regions()), shape.first());
            ASSERT_EQ(shape.first() + shape.regions() * shape.size(), shape.bytes());
            ASSERT_LE(shape.order(), kMostRunOrder);
            const bool is_tiny = shape.size() < (1U << QuantumBins::kLeastQuantumShift);
            if (is_tiny) {
                ASSERT_EQ(shape.order(), 0U);
            } else {
                ASSERT_LE(shape.first() * RunShape::kWasteParts, shape.bytes()) << shape.size();
            }
        }
    });
}

TEST(RunShapeTest, RegionsAreAlignedAsTheirSizeIsAndFoundAgain) {
    const QuantumBins bins(QuantumBins::kLeastTinyShift, QuantumBins::kLeastQuantumShift, QuantumBins::kMostShift);
    for (unsigned bin = 0; bin < bins.count(); ++bin) {
        const RunShape shape(bins.size_of(bin));
        const std::unique_ptr<char, void (*)(void *)> memory(
            static_cast<char *>(std::aligned_alloc(shape.bytes(), shape.bytes())), std::free);
        auto *const run = new (memory.get()) SmallRun(bin, shape.regions());
        const std::size_t natural = shape.size() & -shape.size();
        for (std::uint32_t i = 0; i < shape.regions(); ++i) {
            const void *const region = shape.region(run, i);
            ASSERT_EQ(reinterpret_cast<std::uintptr_t>(region) % natural, 0U) << shape.size();
            ASSERT_EQ(shape.index_of(run, region), i);
        }
    }
}

TEST(RunShapeTest, WhereNoRegionBeginsThereIsNone) {
    const RunShape shape(48);
    const std::unique_ptr<char, void (*)(void *)> memory(
        static_cast<char *>(std::aligned_alloc(shape.bytes(), shape.bytes())), std::free);
    auto *const run = new (memory.get()) SmallRun(0, shape.regions());
    char *const second = static_cast<char *>(shape.region(run, 1));
    EXPECT_DEATH(static_cast<void>(shape.index_of(run, second + 16)), "not a block in use");
    EXPECT_DEATH(static_cast<void>(shape.index_of(run, memory.get())), "not a block in use");
}

TEST(RegionBitmapTest, GivesTheFirstFreeAndKnowsWhatIsFree) {
    std::mt19937 random(4);
    for (const std::uint32_t regions : {1U, 2U, 31U, 63U, 64U, 65U, 251U, 2000U}) {
        std::vector<Word> memory(RegionBitmap::bytes_for(regions) / sizeof(Word) + 1, 0x5555555555555555);
        auto *const bitmap = new (memory.data()) RegionBitmap(regions);
        std::set<std::uint32_t> free;
        std::vector<std::uint32_t> used;
        for (std::uint32_t i = 0; i < regions; ++i) free.insert(i);
        for (int step = 0; step < 4000; ++step) {
            ASSERT_EQ(bitmap->free(), free.size());
            ASSERT_EQ(bitmap->used(), used.size());
            for (std::uint32_t i = 0; i < regions; i += 7) ASSERT_EQ(bitmap->is_free(i), free.contains(i));
            if (!free.empty() && (used.empty() || random() % 2 == 0)) {
                const std::uint32_t region = bitmap->take();
                ASSERT_EQ(region, *free.begin());
                free.erase(free.begin());
                used.push_back(region);
            } else {
                std::swap(used[random() % used.size()], used.back());
                ASSERT_FALSE(bitmap->is_free(used.back()));
                ASSERT_TRUE(bitmap->put(used.back()));
                ASSERT_FALSE(bitmap->put(used.back())) << "a second time";
                free.insert(used.back());
                used.pop_back();
            }
        }
        EXPECT_EQ(memory.back(), 0x5555555555555555) << "wrote past its words";
    }
}

// Figure 5: where a run of 100 regions is promoted and demoted.
TEST(RunStatesTest, ThresholdsAreThoseOfFigure5) {
    const auto after = [](RunState state, std::uint32_t used) { return Quartiles::after(state, used, 100); };
    EXPECT_EQ(after(RunState::init, 0), RunState::init);
    EXPECT_EQ(after(RunState::init, 24), RunState::init);
    EXPECT_EQ(after(RunState::init, 25), RunState::q0);
    EXPECT_EQ(after(RunState::q0, 0), RunState::q0) << "QINIT is never come back to";
    EXPECT_EQ(after(RunState::q0, 49), RunState::q0);
    EXPECT_EQ(after(RunState::q0, 50), RunState::q25);
    EXPECT_EQ(after(RunState::q25, 25), RunState::q25);
    EXPECT_EQ(after(RunState::q25, 24), RunState::q0);
    EXPECT_EQ(after(RunState::q25, 75), RunState::q50);
    EXPECT_EQ(after(RunState::q50, 50), RunState::q50);
    EXPECT_EQ(after(RunState::q50, 49), RunState::q25);
    EXPECT_EQ(after(RunState::q50, 99), RunState::q50);
    EXPECT_EQ(after(RunState::q50, 100), RunState::q75);
    EXPECT_EQ(after(RunState::q75, 75), RunState::q75);
    EXPECT_EQ(after(RunState::q75, 74), RunState::q50);
    EXPECT_EQ(after(RunState::q75, 100), RunState::q75);
}

TEST(RunStatesTest, NoSingleRegionMovesARunUpAndDown) {
    for (const std::uint32_t regions : {1U, 2U, 3U, 4U, 5U, 31U, 251U}) {
        for (const RunState state : {RunState::init, RunState::q0, RunState::q25, RunState::q50, RunState::q75}) {
            for (std::uint32_t used = 0; used < regions; ++used) {
                const RunState here = Quartiles::after(state, used, regions);
                ASSERT_EQ(Quartiles::after(here, used, regions), here);
                const RunState up = Quartiles::after(here, used + 1, regions);
                if (regions >= 4 && up != here) {
                    ASSERT_EQ(Quartiles::after(up, used, regions), up);
                }
            }
            const RunState full = Quartiles::after(state, regions, regions);
            ASSERT_EQ(full, RunState::q75);
            ASSERT_EQ(Quartiles::after(full, 0, regions), RunState::q0);
        }
    }
}

TEST(RunStatesTest, OnlyOneThatRoseIsDestroyed) {
    for (const RunState state : {RunState::init, RunState::q25, RunState::q50, RunState::q75})
        EXPECT_FALSE(Quartiles::is_destroyed_empty(state));
    EXPECT_TRUE(Quartiles::is_destroyed_empty(RunState::q0));
    const std::vector<RunState> preference(Quartiles::preference().begin(), Quartiles::preference().end());
    const std::vector<RunState> expected{RunState::q50, RunState::q25, RunState::q0, RunState::q75, RunState::init};
    EXPECT_EQ(preference, expected);
}

}  // namespace gr::lab::small_runs_test
