// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the unit tests of lab/parts/memory/options.hpp.
// Invariant: what is told is compared word for word.
// Must not know: whose options they are.
#include "parts/memory/options.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <string>

namespace gr::lab::options_test {

class Options : public testing::Test {
  protected:
    // What was told meanwhile.
    std::string read(const char *text) {
        testing::internal::CaptureStderr();
        OptionReader(table_).read(text);
        return testing::internal::GetCapturedStderr();
    }
    std::uint64_t f() const { return table_[0].value; }
    std::uint64_t size() const { return table_[1].value; }

    std::array<Option, 2> table_{{
        {.name = "f", .parts = 8, .value = 2, .least = 1, .most = 7, .told = "from 1/8 to 7/8"},
        {.name = "size",
         .parts = 1,
         .value = 8192,
         .least = 4096,
         .most = 65536,
         .told = "a power of two",
         .is_power_of_two = true},
    }};
};

TEST_F(Options, AreReadAsFractionsDecimalsAndWholeNumbers) {
    EXPECT_EQ(read("f=1/8,size=16384"), "");
    EXPECT_EQ(f(), 1U);
    EXPECT_EQ(size(), 16384U);
    EXPECT_EQ(read("f=0.375"), "");
    EXPECT_EQ(f(), 3U);
    EXPECT_EQ(read("f=2/4,"), "");
    EXPECT_EQ(f(), 4U);
    EXPECT_EQ(read(""), "");
}

TEST_F(Options, OutOfRangeAreToldAndTheOthersHold) {
    EXPECT_EQ(read("f=1,size=4096"), "granary: GRANARY_LAB: 'f=1': must be from 1/8 to 7/8; ignored\n");
    EXPECT_EQ(f(), 2U);
    EXPECT_EQ(size(), 4096U);
    EXPECT_EQ(read("size=5000"), "granary: GRANARY_LAB: 'size=5000': must be a power of two; ignored\n");
    EXPECT_EQ(size(), 4096U);
}

TEST_F(Options, WhatIsNoNumberIsTold) {
    for (const char *text : {"f", "f=", "f=x", "f=1/", "f=1/0", "f=/8", "f=.5", "f=1/2/2", "f=-1/8", "f=1/3", "f=0",
                             "f=99999999999999999999/8", "f=1 /8"}) {
        EXPECT_NE(read(text), "") << text;
        EXPECT_EQ(f(), 2U) << text;
    }
}

TEST_F(Options, UnknownOnesAreToldInOneLineWhateverTheyHold) {
    EXPECT_EQ(read("q=1"), "granary: GRANARY_LAB: 'q=1': not an option of this allocator; the options are f size\n");
    EXPECT_EQ(read("a\nb=\x01"),
              "granary: GRANARY_LAB: 'a?b=?': not an option of this allocator; the options are f size\n");
    const std::string told = read(std::string(1000, 'x').c_str());
    EXPECT_LT(told.size(), 200U);
    EXPECT_EQ(told.back(), '\n');
}

TEST_F(Options, ComeFromTheEnvironment) {
    setenv("GRANARY_LAB", "f=7/8", 1);
    OptionReader(table_).read_environment();
    unsetenv("GRANARY_LAB");
    EXPECT_EQ(f(), 7U);
}

}  // namespace gr::lab::options_test
