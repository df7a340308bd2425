// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: when address-saving mode (code: address_saving) begins, in which nothing is cached, and when it ends.
// Invariant: numbers of bytes only; nothing is allocated.
// Must not know: magazines.
#include "heap/address_saving.hpp"

#include <gtest/gtest.h>

namespace gr::address_saving_test {

constexpr std::size_t kLeast = 2 * kMiB;
constexpr std::size_t kMost = 64 * kMiB;

// Begun by a fall from kMost to `in_use`.
void begin(AddressSaving &address_saving, std::size_t in_use) {
    address_saving.initialise(kLeast);
    ASSERT_FALSE(address_saving.begins(kMost));
    ASSERT_TRUE(address_saving.begins(in_use));
    ASSERT_TRUE(address_saving.is_on());
}

TEST(AddressSaving, BeginsWithAFallAndForOneCaller) {
    AddressSaving address_saving;
    address_saving.initialise(kLeast);
    EXPECT_FALSE(address_saving.begins(kMost));
    EXPECT_FALSE(address_saving.begins(kMost - kMost / kAddressSavingFallParts + 1));
    EXPECT_FALSE(address_saving.is_on());
    EXPECT_TRUE(address_saving.begins(kMost - kMost / kAddressSavingFallParts));
    EXPECT_TRUE(address_saving.is_on());
    EXPECT_FALSE(address_saving.begins(kMost / 2)) << "it has begun already";
}

TEST(AddressSaving, NeverWhereAddressesAreNotScarceOrLittleIsInUse) {
    AddressSaving never;
    never.initialise(0);
    EXPECT_FALSE(never.begins(kMost));
    EXPECT_FALSE(never.begins(0));
    AddressSaving little;
    little.initialise(kLeast);
    EXPECT_FALSE(little.begins(kLeast - 1));
    EXPECT_FALSE(little.begins(0));
    EXPECT_FALSE(little.is_on());
}

TEST(AddressSaving, LastsWhileItFalls) {
    AddressSaving address_saving;
    begin(address_saving, kMost / 2);
    for (std::size_t in_use = kMost / 2; in_use > kLeast; in_use -= 64)
        EXPECT_TRUE(address_saving.lasts(in_use, kMost));
}

// Few pages may hold something in many superblocks.
TEST(AddressSaving, LastsUntilLittleIsSpanned) {
    AddressSaving address_saving;
    begin(address_saving, kMost / 2);
    EXPECT_TRUE(address_saving.lasts(0, kLeast));
    EXPECT_FALSE(address_saving.lasts(0, kLeast / kAddressSavingFallParts - 1));
    EXPECT_FALSE(address_saving.is_on());
}

TEST(AddressSaving, EndsWithGrowthAndBeginsAnewBelowThat) {
    AddressSaving address_saving;
    begin(address_saving, kMost / 2);
    const std::size_t grown = kMost / 2 + kMost / 2 / kAddressSavingFallParts + 1;
    EXPECT_TRUE(address_saving.lasts(grown - 1, kMost));
    EXPECT_FALSE(address_saving.lasts(grown, kMost));
    EXPECT_FALSE(address_saving.lasts(kMost / 2, kMost)) << "it ended";
    EXPECT_FALSE(address_saving.begins(kMost / 2)) << "what fell is less than a part of what it had grown to";
    EXPECT_TRUE(address_saving.begins(kMost / 4));
}

TEST(AddressSaving, EndsWhenNothingFallsForLong) {
    AddressSaving address_saving;
    begin(address_saving, kMost / 2);
    std::size_t calls = 0;
    while (address_saving.lasts(kMost / 2, kMost)) ++calls;
    EXPECT_GE(calls, kMost / 2 / kAddressSavingBytesPerCall);
    EXPECT_LE(calls, 2 * kMost / kAddressSavingBytesPerCall);
    EXPECT_FALSE(address_saving.is_on());
}

// The last pages of a heap are few calls' worth, but each may wait for a sweep.
TEST(AddressSaving, HasPatienceWithLittle) {
    AddressSaving address_saving;
    begin(address_saving, kLeast);
    EXPECT_TRUE(address_saving.lasts(kMiB / 4, kMost));
    std::size_t calls = 0;
    while (address_saving.lasts(kMiB / 4, kMost)) ++calls;
    EXPECT_GE(calls, kLeast / kAddressSavingBytesPerCall);
}

}  // namespace gr::address_saving_test
