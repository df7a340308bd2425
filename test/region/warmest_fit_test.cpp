// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: where a long run goes: worked examples, and every small case against a search that tries each place.
// Invariant: no memory: masks only.
// Must not know: the page heap.
#include "region/warmest_fit.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace gr::warmest_fit_test {

using Masks = std::vector<std::uint32_t>;

std::uint64_t place_for(const Masks &free, const Masks &warm, std::uint32_t count, std::uint32_t alignment = 1) {
    return WarmestFit(UnitCount(count), UnitCount(alignment))
        .find(
            static_cast<std::uint32_t>(free.size()), [&](std::uint32_t c) { return free[c]; },
            [&](std::uint32_t c) { return warm[c]; });
}

constexpr std::uint32_t kAll = UINT32_MAX;

TEST(WarmestFit, WhereMostOfItIsWarm) {
    //                       40 cold units      used  48 units, the last 16 warm
    EXPECT_EQ(place_for({kAll, 0x000000ff, 0xffff0000, kAll}, {0, 0, 0, 0xffff0000}, 40), 2 * kUnitsPerChunk + 24);
    EXPECT_EQ(place_for({kAll, 0x000000ff, 0xffff0000, kAll}, {1, 0, 0, 0}, 40), 0U);
}

TEST(WarmestFit, OfEquallyWarmOnesTheShortestRowThenTheLowest) {
    EXPECT_EQ(place_for({kAll, kAll, 0, kAll, 0xff, kAll, 0xff}, Masks(7, 0), 33), 3 * kUnitsPerChunk);
}

TEST(WarmestFit, NowhereIfNoRowIsLongEnough) {
    EXPECT_EQ(place_for({kAll, 0x7fffffff, kAll}, Masks(3, kAll), 64), WarmestFit::kNone);
    EXPECT_EQ(place_for({kAll, 0x7fffffff, kAll}, Masks(3, kAll), 63), 0U);
    EXPECT_EQ(place_for({}, {}, 1), WarmestFit::kNone);
}

TEST(WarmestFit, AtAMultipleOfItsAlignment) {
    EXPECT_EQ(place_for({0xfffffff0, kAll, kAll}, Masks(3, 0), 40, 32), kUnitsPerChunk);
    EXPECT_EQ(place_for({0xfffffff0, kAll}, Masks(2, 0), 40, 32), WarmestFit::kNone);
}

// Any place is allowed to be as good as the one that is found, but not better.
TEST(WarmestFit, NoPlaceIsWarmerThanItMayBe) {
    std::mt19937 numbers(1);
    const auto random = [&] { return static_cast<std::uint32_t>(numbers()); };
    for (int round = 0; round < 2000; ++round) {
        Masks free(4);
        Masks warm(4);
        for (std::size_t c = 0; c < free.size(); ++c) {
            free[c] = random() | random() | random() | random();
            if (random() % 2 == 0) free[c] = kAll;
            warm[c] = free[c] & random();
        }
        const std::uint32_t count = 1 + random() % 64;
        const auto is = [](const Masks &masks, std::uint64_t u) {
            return (masks[u / kUnitsPerChunk] >> u % kUnitsPerChunk & 1) != 0;
        };
        const std::uint64_t units = free.size() * kUnitsPerChunk;
        // Only the ends of rows are looked at.
        std::uint64_t warmest = 0;
        bool any = false;
        for (std::uint64_t u = 0; u + count <= units; ++u) {
            std::uint64_t here = 0;
            bool fits = true;
            for (std::uint64_t i = u; i < u + count; ++i) {
                fits = fits && is(free, i);
                here += is(warm, i) ? 1 : 0;
            }
            const bool at_an_end = u == 0 || !is(free, u - 1) || u + count == units || !is(free, u + count);
            if (!fits) continue;
            any = true;
            if (at_an_end && here > warmest) warmest = here;
        }
        const std::uint64_t found = place_for(free, warm, count);
        ASSERT_EQ(found != WarmestFit::kNone, any);
        if (!any) continue;
        std::uint64_t here = 0;
        for (std::uint64_t i = found; i < found + count; ++i) {
            ASSERT_TRUE(is(free, i)) << "round " << round;
            here += is(warm, i) ? 1 : 0;
        }
        EXPECT_EQ(here, warmest) << "round " << round;
    }
}

}  // namespace gr::warmest_fit_test
