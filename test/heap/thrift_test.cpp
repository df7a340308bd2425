// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: when nothing is cached where addresses are scarce, and when that ends.
// Invariant: numbers of bytes only; nothing is allocated.
// Must not know: magazines.
#include "heap/thrift.hpp"

#include <gtest/gtest.h>

namespace gr {
namespace {

constexpr std::size_t kLeast = 2 * kMiB;
constexpr std::size_t kMost = 64 * kMiB;

// Begun by a fall from kMost to `in_use`.
void begin(Thrift &thrift, std::size_t in_use) {
    thrift.initialise(kLeast);
    ASSERT_FALSE(thrift.begins(kMost));
    ASSERT_TRUE(thrift.begins(in_use));
    ASSERT_TRUE(thrift.is_on());
}

TEST(Thrift, BeginsWithAFallAndForOneCaller) {
    Thrift thrift;
    thrift.initialise(kLeast);
    EXPECT_FALSE(thrift.begins(kMost));
    EXPECT_FALSE(thrift.begins(kMost - kMost / kThriftFallParts + 1));
    EXPECT_FALSE(thrift.is_on());
    EXPECT_TRUE(thrift.begins(kMost - kMost / kThriftFallParts));
    EXPECT_TRUE(thrift.is_on());
    EXPECT_FALSE(thrift.begins(kMost / 2)) << "it has begun already";
}

TEST(Thrift, NeverWhereAddressesAreNotScarceOrLittleIsInUse) {
    Thrift never;
    never.initialise(0);
    EXPECT_FALSE(never.begins(kMost));
    EXPECT_FALSE(never.begins(0));
    Thrift little;
    little.initialise(kLeast);
    EXPECT_FALSE(little.begins(kLeast - 1));
    EXPECT_FALSE(little.begins(0));
    EXPECT_FALSE(little.is_on());
}

TEST(Thrift, LastsWhileItFalls) {
    Thrift thrift;
    begin(thrift, kMost / 2);
    for (std::size_t in_use = kMost / 2; in_use > kLeast; in_use -= 64) EXPECT_TRUE(thrift.lasts(in_use, kMost));
}

// Few pages may hold something in many superblocks.
TEST(Thrift, LastsUntilLittleIsSpanned) {
    Thrift thrift;
    begin(thrift, kMost / 2);
    EXPECT_TRUE(thrift.lasts(0, kLeast));
    EXPECT_FALSE(thrift.lasts(0, kLeast / kThriftFallParts - 1));
    EXPECT_FALSE(thrift.is_on());
}

TEST(Thrift, EndsWithGrowthAndBeginsAnewBelowThat) {
    Thrift thrift;
    begin(thrift, kMost / 2);
    const std::size_t grown = kMost / 2 + kMost / 2 / kThriftFallParts + 1;
    EXPECT_TRUE(thrift.lasts(grown - 1, kMost));
    EXPECT_FALSE(thrift.lasts(grown, kMost));
    EXPECT_FALSE(thrift.lasts(kMost / 2, kMost)) << "it ended";
    EXPECT_FALSE(thrift.begins(kMost / 2)) << "what fell is less than a part of what it had grown to";
    EXPECT_TRUE(thrift.begins(kMost / 4));
}

TEST(Thrift, EndsWhenNothingFallsForLong) {
    Thrift thrift;
    begin(thrift, kMost / 2);
    std::size_t calls = 0;
    while (thrift.lasts(kMost / 2, kMost)) ++calls;
    EXPECT_GE(calls, kMost / 2 / kThriftBytesPerCall);
    EXPECT_LE(calls, 2 * kMost / kThriftBytesPerCall);
    EXPECT_FALSE(thrift.is_on());
}

// The last pages of a heap are few calls' worth, but each may wait for a sweep.
TEST(Thrift, HasPatienceWithLittle) {
    Thrift thrift;
    begin(thrift, kLeast);
    EXPECT_TRUE(thrift.lasts(kMiB / 4, kMost));
    std::size_t calls = 0;
    while (thrift.lasts(kMiB / 4, kMost)) ++calls;
    EXPECT_GE(calls, kLeast / kThriftBytesPerCall);
}

}  // namespace
}  // namespace gr
