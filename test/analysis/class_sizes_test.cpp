// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the size classes by which a report reckons are the library's.
// Invariant: every size that has a class is compared.
// Must not know: what a report makes of them.
#include "reporting/steps/class_sizes.hpp"

#include <gtest/gtest.h>

#include "base/size_class.hpp"

namespace gr::tool::class_sizes_test {

TEST(ClassSizes, AreThoseOfTheLibrary) {
    for (std::size_t size = 0; size <= kClassLimit; ++size) {
        ASSERT_EQ(granary_block(size), size_of_class(class_of(size))) << size;
    }
}

TEST(ClassSizes, WhatHasNoClassTakesPages) {
    EXPECT_EQ(granary_block(kClassLimit + 1), kClassLimit + 4096);
    EXPECT_EQ(granary_block(kClassLimit + 4096), kClassLimit + 4096);
    EXPECT_EQ(granary_block(UINT64_MAX), UINT64_MAX);
}

TEST(ClassSizes, PowersOfTwoAreTheNextOne) {
    EXPECT_EQ(power_of_two_block(0), 16U);
    EXPECT_EQ(power_of_two_block(16), 16U);
    EXPECT_EQ(power_of_two_block(17), 32U);
    EXPECT_EQ(power_of_two_block(UINT64_MAX), UINT64_MAX);
}

}  // namespace gr::tool::class_sizes_test
