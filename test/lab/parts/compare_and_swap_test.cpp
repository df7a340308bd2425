// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: compare-and-swap by a sequence: it refuses what the instruction would, and loses no update however often it is
//    interrupted.
// Invariant: threads add by swaps alone; the sum is exact.
// Must not know: how long anything takes.
#include "parts/lfmalloc/compare_and_swap.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "lab/interruptions.hpp"
#include "parts/composed/which_heap.hpp"

namespace gr::lab::compare_and_swap_test {

class CompareAndSwap : public testing::Test {
  protected:
    void SetUp() override {
        ByCpu::count();
        if (!ByCpu::is_kept) GTEST_SKIP() << "libc registers no rseq here";
        cpu_ = ByCpu::kept();
    }
    const OnOneCpu on_one_cpu_;
    std::atomic<std::uint64_t> word_{5};
    int cpu_ = 0;
};

TEST_F(CompareAndSwap, SwapsWhatItExpects) {
    EXPECT_FALSE(compare_and_swap(cpu_, word_, std::uint64_t{4}, std::uint64_t{6}));
    EXPECT_EQ(word_.load(), 5U);
    EXPECT_TRUE(compare_and_swap(cpu_, word_, std::uint64_t{5}, std::uint64_t{6}));
    EXPECT_EQ(word_.load(), 6U);
}

// Half of a word is not the word.
TEST_F(CompareAndSwap, ComparesTheWholeWord) {
    constexpr std::uint64_t kHigh = std::uint64_t{1} << 40;
    EXPECT_FALSE(compare_and_swap(cpu_, word_, 5 + kHigh, std::uint64_t{6}));
    ASSERT_TRUE(compare_and_swap(cpu_, word_, std::uint64_t{5}, 6 + kHigh));
    EXPECT_EQ(word_.load(), 6 + kHigh);
}

// Where the emulation of section 5.1 would go wrong: a thread on another CPU.
TEST_F(CompareAndSwap, AWordOfAnotherCpuIsRefused) {
    EXPECT_FALSE(compare_and_swap(cpu_ + 1, word_, std::uint64_t{5}, std::uint64_t{6}));
    EXPECT_FALSE(compare_and_swap(-1, word_, std::uint64_t{5}, std::uint64_t{6}));
    EXPECT_EQ(word_.load(), 5U);
}

// "A process with all related threads bound to one CPU."
TEST_F(CompareAndSwap, ThreadsOfOneCpuLoseNoUpdate) {
    constexpr unsigned kThreads = 4;
    constexpr unsigned kTimes = 200'000;
    const Interruptions interruptions;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < kThreads; ++t) {
        threads.emplace_back([this] {
            for (unsigned i = 0; i < kTimes; ++i) {
                std::uint64_t seen = word_.load(std::memory_order_relaxed);
                while (!compare_and_swap(cpu_, word_, seen, seen + 1)) seen = word_.load(std::memory_order_relaxed);
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(word_.load(), 5 + std::uint64_t{kThreads} * kTimes);
}

}  // namespace gr::lab::compare_and_swap_test
