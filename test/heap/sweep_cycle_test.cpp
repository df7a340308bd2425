// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a sweep divided into steps: when it begins, how far each step goes, and what was freed when it is over.
// Invariant: no kernel, no heap: numbers only.
// Must not know: superblocks; how memory is given back.
#include "heap/sweep_cycle.hpp"

#include <gtest/gtest.h>

#include "superblock/page_set.hpp"

namespace gr::sweep_cycle_test {

constexpr std::size_t kMayStay = kMiB;
constexpr std::uint32_t kChunks = 100;

class Cycle : public testing::Test {
  protected:
    // As in a free that saw that a step is due.
    void step() {
        if (!cycle_.is_under_way()) return cycle_.begin(global_free_, kMayStay, kChunks);
        for (std::uint32_t chunks = cycle_.take_chunks(global_free_); chunks != 0; --chunks) {
            EXPECT_EQ(cycle_.next().value, swept_++ % kChunks) << "each in its turn";
        }
        if (!cycle_.is_under_way()) cycle_.end(global_free_);
    }
    void free(std::size_t bytes) {
        global_free_.add(bytes);
        if (cycle_.is_due(global_free_, kMayStay)) step();
    }

    GlobalFree global_free_;
    SweepCycle cycle_;
    std::uint32_t swept_ = 0;
};

TEST_F(Cycle, BeginsBeforeTooMuchIsFreeAndEndsInTime) {
    constexpr std::size_t kStep = kMayStay / 128;  // some chunks each
    const std::size_t begins = kMayStay - kMayStay / kSweepParts;
    free(begins);
    EXPECT_FALSE(cycle_.is_under_way());
    for (std::size_t freed = begins; freed <= kMayStay; freed += kStep) free(kStep);
    EXPECT_EQ(swept_, kChunks);
    EXPECT_FALSE(cycle_.is_under_way());
}

TEST_F(Cycle, GoesAsFarAsWhatBecameFree) {
    free(kMayStay);
    ASSERT_TRUE(cycle_.is_under_way());
    EXPECT_EQ(swept_, 0U);
    free(kMayStay / kSweepParts / 4);
    EXPECT_EQ(swept_, kChunks / 4);
    free(kMayStay / kSweepParts / 2);
    EXPECT_EQ(swept_, kChunks / 4 * 3);
    free(10 * kMayStay);
    EXPECT_EQ(swept_, kChunks) << "and no further";
}

TEST_F(Cycle, WaitsWhileNothingBecomesFree) {
    free(kMayStay);
    global_free_.subtract(kMayStay / 2);
    free(kMayStay / kSweepParts / kChunks - 1);
    EXPECT_EQ(swept_, 0U);
    free(1);
    EXPECT_EQ(swept_, 1U) << "what was taken and freed again meanwhile does not count against it";
}

TEST_F(Cycle, LearnsFromAllThatBecameFree) {
    free(kMayStay);
    cycle_.gave_back(kMayStay / 2);
    free(kMayStay);
    ASSERT_FALSE(cycle_.is_under_way());
    EXPECT_EQ(global_free_.growth_for(kMayStay), 2 * kMayStay) << "it was a quarter, but no less than half is expected";
    free(2 * kMayStay);
    cycle_.gave_back(6 * kMayStay + kMayStay / 16);
    free(kMayStay);
    EXPECT_EQ(global_free_.growth_for(8 * kMayStay), kMayStay) << "it was twice as much, after half";
}

TEST_F(Cycle, WithNothingThatMayStayEveryFreeCounts) {
    global_free_.add(1);
    EXPECT_FALSE(cycle_.is_due(global_free_, 0)) << "too little to be counted";
    global_free_.add(kLeastPageBytes);
    EXPECT_TRUE(cycle_.is_due(global_free_, 0));
    cycle_.begin(global_free_, 0, kChunks);
    global_free_.add(kLeastSweepGrowth - 1);
    EXPECT_FALSE(cycle_.is_due(global_free_, 0)) << "no chunk for so little";
    global_free_.add(1);
    EXPECT_TRUE(cycle_.is_due(global_free_, 0));
}

}  // namespace gr::sweep_cycle_test
