// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: chances, gaps and estimates against libm and against sums that are known.
// Invariant: the numbers that are drawn are the same each time.
// Must not know: what is sampled.
#include "profile/estimate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace gr::estimate_test {

TEST(Estimate, ChancesAndLogarithmsAreLibms) {
    for (double x = 1e-9; x < 200; x *= 1.07) EXPECT_NEAR(chance_below(x) / -std::expm1(-x), 1, 1e-8) << x;
    std::mt19937_64 random(1);
    for (unsigned shift = 0; shift < 64; ++shift) {
        for (unsigned i = 0; i < 100; ++i) {
            const std::uint64_t number = random() >> shift | 1;
            const double wanted = -std::log(static_cast<double>(number) * 0x1p-64);
            EXPECT_NEAR(minus_logarithm(number), wanted, 1e-8) << number;
        }
    }
    EXPECT_GE(minus_logarithm(UINT64_MAX), 0);
    EXPECT_LT(minus_logarithm(0), 45);
}

TEST(Estimate, BlockThatIsAlwaysSampledStandsForItself) {
    for (const std::uint64_t size : {0U, 1U, 64U, 100000000U}) {
        EXPECT_EQ(estimate_of(size, 1).blocks, kOneBlock);
        EXPECT_EQ(estimate_of(size, 1).bytes, size);
    }
    for (const std::uint64_t random : {std::uint64_t{0}, std::uint64_t{1} << 40, UINT64_MAX})
        EXPECT_EQ(gap_of(random, 1), 0);
    EXPECT_EQ(estimate_of(0, 2).bytes, 0U);
    EXPECT_GT(estimate_of(0, 2).blocks, kOneBlock);
}

// A block stands for the inverse of its chance, so that the expected sum is the sum.
TEST(Estimate, ExpectedSumIsTheSum) {
    constexpr std::uint64_t kMean = 512 * 1024;
    for (const std::uint64_t size : {16U, 100U, 4096U, 524288U, 3000000U, 100000000U}) {
        const double chance = -std::expm1(-static_cast<double>(size) / kMean);
        const Estimate estimate = estimate_of(size, kMean);
        EXPECT_NEAR(static_cast<double>(estimate.bytes) * chance / static_cast<double>(size), 1, 1e-5) << size;
        EXPECT_NEAR(static_cast<double>(estimate.blocks) / kOneBlock * chance, 1, 1e-4) << size;
    }
}

TEST(Gaps, ChanceOfALongerOneFallsExponentially) {
    constexpr unsigned kDraws = 1'000'000;
    constexpr std::uint64_t kMean = 1000;
    std::mt19937_64 random(2);
    unsigned beyond[6] = {};
    double sum = 0;
    for (unsigned i = 0; i < kDraws; ++i) {
        const std::int64_t gap = gap_of(random(), kMean);
        ASSERT_GE(gap, 1);
        sum += static_cast<double>(gap);
        const std::int64_t limits[] = {1, 16, 100, 1000, 3000, 7000};
        for (unsigned k = 0; k < 6; ++k) beyond[k] += gap > limits[k] ? 1 : 0;
    }
    EXPECT_NEAR(sum / kDraws, kMean + 0.5, 5);
    const double limits[] = {1, 16, 100, 1000, 3000, 7000};
    for (unsigned k = 0; k < 6; ++k) {
        const double chance = std::exp(-limits[k] / kMean);
        const double deviation = std::sqrt(chance * (1 - chance) / kDraws);
        EXPECT_NEAR(static_cast<double>(beyond[k]) / kDraws, chance, 5 * deviation) << limits[k];
    }
}

// As a thread draws: sizes of all kinds, in any order, each sum right whatever stands beside it; for threads that end soon
// as for those that go on.
TEST(Gaps, SumsOfEachSizeAreUnbiased) {
    constexpr std::uint64_t kMean = 4096;
    constexpr std::uint64_t kSizes[] = {16, 48, 400, 4000, 40000};
    for (const unsigned blocks_of_thread : {3U, 1'000'000U}) {
        std::mt19937_64 random(3);
        std::uint64_t real[5] = {};
        double estimated[5] = {};
        std::int64_t left = 0;
        for (unsigned i = 0; i < 2'000'000; ++i) {
            if (i % blocks_of_thread == 0) left = gap_of(random(), kMean);
            const std::size_t kind = random() % 8 < 4 ? 0 : random() % 5;
            const std::uint64_t size = kSizes[kind];
            ++real[kind];
            left -= static_cast<std::int64_t>(size);
            if (left > 0) continue;
            estimated[kind] += static_cast<double>(estimate_of(size, kMean).blocks) / kOneBlock;
            left = gap_of(random(), kMean);
        }
        for (unsigned kind = 0; kind < 5; ++kind) {
            const double chance = -std::expm1(-static_cast<double>(kSizes[kind]) / kMean);
            const auto count = static_cast<double>(real[kind]);
            const double deviation = std::sqrt(count * (1 - chance) / chance);
            EXPECT_NEAR(estimated[kind], count, 5 * deviation + count * 1e-4) << kSizes[kind];
        }
    }
}

}  // namespace gr::estimate_test
