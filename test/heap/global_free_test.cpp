// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how far free memory has grown since there was least of it, and what a purge (code: sweep) is expected to
//    return.
// Invariant: no kernel, no heap: numbers only.
// Must not know: how memory is given back.
#include "heap/global_free.hpp"

#include <gtest/gtest.h>

namespace gr::global_free_test {

TEST(GlobalFree, GrowsFromTheLeastSinceGrowthWasTaken) {
    GlobalFree global_free;
    global_free.add(1000);
    EXPECT_EQ(global_free.growth(), 1000U);
    EXPECT_EQ(global_free.take_growth(1), 1000U);
    EXPECT_EQ(global_free.growth(), 0U) << "what a sweep leaves cannot be given back";
    global_free.add(100);
    EXPECT_EQ(global_free.growth(), 100U);
    global_free.subtract(500);
    EXPECT_EQ(global_free.growth(), 0U);
    global_free.add(30);
    EXPECT_EQ(global_free.growth(), 30U) << "what became free since there was least is new";
    EXPECT_EQ(global_free.bytes(), 630U);
    EXPECT_EQ(global_free.take_growth(20), 20U);
    EXPECT_EQ(global_free.growth(), 10U) << "what is less than a step counts the next time";
}

class Expectation : public testing::Test {
  protected:
    static constexpr std::size_t kFreed = 16000;
    std::size_t after(std::size_t given_back) {
        global_free_.learn(kFreed, given_back);
        global_free_.take_growth(1);
        global_free_.add(kFreed);
        return global_free_.expected();
    }
    GlobalFree global_free_;
};

TEST_F(Expectation, IsWhatTheLastSweepFound) {
    global_free_.add(kFreed);
    EXPECT_EQ(global_free_.expected(), kFreed) << "nothing is known yet";
    EXPECT_EQ(after(12000), 12000U);
    EXPECT_EQ(after(9000), 9000U);
    EXPECT_EQ(after(0), 8000U) << "what is never looked for is never found";
}

TEST_F(Expectation, RisesAsItRose) {
    EXPECT_EQ(after(2 * kFreed), 4 * kFreed);
    EXPECT_EQ(after(3 * kFreed), 9 * kFreed / 2);
    EXPECT_EQ(after(3 * kFreed), 3 * kFreed) << "no more than the one before";
    EXPECT_EQ(after(1000 * kFreed), 16 * kFreed);
    global_free_.learn(0, 5000);
    EXPECT_EQ(global_free_.expected(), kFreed) << "nothing was learnt";
}

TEST_F(Expectation, TellsHowMuchMustBecomeFreeForIt) {
    EXPECT_EQ(global_free_.growth_for(4096), 4096U);
    after(12000);
    EXPECT_EQ(global_free_.growth_for(12 * 1024), 16 * 1024U);
}

}  // namespace gr::global_free_test
