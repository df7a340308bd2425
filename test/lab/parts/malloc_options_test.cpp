// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: MALLOC_OPTIONS: each letter of the table in both cases, what is none, and where an option ends.
// Invariant: what is ignored says one line.
// Must not know: what an option changes.
#include "parts/malloc_options.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>

namespace gr::lab::malloc_options_test {

// What reading says.
std::string read(MallocOptions *options, const char *letters) {
    testing::internal::CaptureStderr();
    options->read(letters);
    return testing::internal::GetCapturedStderr();
}
std::ptrdiff_t lines(const std::string &text) { return std::count(text.begin(), text.end(), '\n'); }

TEST(MallocOptionsTest, LettersAreCapitalsEachOnceAndOptionsBeginWithinTheirBounds) {
    std::set<char> letters;
    for (const MallocOption &option : kMallocOptions) {
        EXPECT_TRUE(option.letter >= 'A' && option.letter <= 'Z') << option.letter;
        EXPECT_TRUE(letters.insert(option.letter).second) << option.letter;
        EXPECT_GE(MallocOptions().*option.value, option.least) << option.letter;
        EXPECT_LE(MallocOptions().*option.value, option.most) << option.letter;
    }
}

TEST(MallocOptionsTest, EachLetterGoesUpAndDownWithinItsBounds) {
    for (const MallocOption &option : kMallocOptions) {
        SCOPED_TRACE(option.letter);
        const std::string upper(1, option.letter);
        const std::string lower(1, static_cast<char>(option.letter - 'A' + 'a'));
        MallocOptions options;
        while (options.*option.value < option.most) {
            const int before = options.*option.value;
            EXPECT_EQ(read(&options, upper.c_str()), "");
            ASSERT_EQ(options.*option.value, before + 1);
        }
        EXPECT_EQ(lines(read(&options, upper.c_str())), option.is_switch() ? 0 : 1);
        EXPECT_EQ(options.*option.value, option.most);
        while (options.*option.value > option.least) {
            const int before = options.*option.value;
            EXPECT_EQ(read(&options, lower.c_str()), "");
            ASSERT_EQ(options.*option.value, before - 1);
        }
        EXPECT_EQ(lines(read(&options, lower.c_str())), option.is_switch() ? 0 : 1);
        EXPECT_EQ(options.*option.value, option.least);
    }
}

TEST(MallocOptionsTest, WhatIsNoneIsToldAndTheRestGoesOn) {
    MallocOptions options;
    const std::string said = read(&options, "J7\nKKu");
    EXPECT_EQ(options.junk, 1);
    EXPECT_EQ(options.chunk_shift, MallocOptions().chunk_shift + 2);
    EXPECT_EQ(lines(said), 3) << said;
    EXPECT_NE(said.find("ignoring '7' in MALLOC_OPTIONS: it is not an option; the options are HJKNPQSXZ\n"), said.npos)
        << said;
    EXPECT_NE(said.find("ignoring '?'"), said.npos) << "a line stays a line: " << said;
    EXPECT_NE(said.find("ignoring 'u'"), said.npos) << said;
}

TEST(MallocOptionsTest, TheEnvironmentsVariableAloneCounts) {
    MallocOptions options;
    setenv("XMALLOC_OPTIONS", "J", 1);
    setenv("MALLOC_OPTIONSX", "J", 1);
    options.read_environment();
    EXPECT_EQ(options.junk, 0);
    setenv("MALLOC_OPTIONS", "Z", 1);
    options.read_environment();
    for (const char *const name : {"XMALLOC_OPTIONS", "MALLOC_OPTIONSX", "MALLOC_OPTIONS"}) unsetenv(name);
    EXPECT_EQ(options.junk, 0);
    EXPECT_EQ(options.zero, 1);
}

TEST(MallocOptionsTest, BlocksAreFilledAsAsked) {
    char block[8];
    const auto holds = [&block](unsigned char byte) {
        return std::all_of(std::begin(block), std::end(block), [byte](char c) { return c == static_cast<char>(byte); });
    };
    std::fill(std::begin(block), std::end(block), 'x');
    MallocOptions options;
    options.fill(block, sizeof block, false);
    options.fill_freed(block, sizeof block);
    EXPECT_TRUE(holds('x'));
    options.junk = 1;
    options.fill(block, sizeof block, true);
    EXPECT_TRUE(holds(MallocOptions::kJunk));
    options.fill_freed(block, sizeof block);
    EXPECT_TRUE(holds(MallocOptions::kFreedJunk));
    options.zero = 1;
    options.fill(block, sizeof block, true);
    EXPECT_TRUE(holds(0)) << "Z after J";
}

TEST(MallocOptionsTest, ExhaustionEndsInALine) {
    EXPECT_DEATH(die_of_exhaustion(12345), "no memory for 12345 bytes; aborting, because MALLOC_OPTIONS has X");
}

}  // namespace gr::lab::malloc_options_test
