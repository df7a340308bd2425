// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the options that phkmalloc and jemalloc have: each letter of both tables, what is none, where an option ends,
//    and the three places in which letters stand.
// Invariant: what is ignored says one line.
// Must not know: what an option changes.
#include "parts/memory/malloc_options.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>

#include "parts/jemalloc/arena_options.hpp"
#include "parts/phkmalloc/paged_allocator.hpp"

// This program's definition of _malloc_options. It has another name here, because the header's declaration lets it be
// absent.
extern const char *string_of_program asm("_malloc_options");
const char *string_of_program = nullptr;

namespace gr::lab::malloc_options_test {

struct OfArenas {
    using Options = ArenaOptions;
    static constexpr std::span<const MallocOption<Options>> kTable = kArenaOptions;
};
struct OfPages {
    using Options = PagedOptions;
    static constexpr std::span<const MallocOption<Options>> kTable = kPagedOptions;
};

// What reading says.
template <class Of>
std::string read(typename Of::Options *options, const std::string &letters) {
    testing::internal::CaptureStderr();
    MallocOptionReader<typename Of::Options>(options, Of::kTable).read(letters, "MALLOC_OPTIONS");
    return testing::internal::GetCapturedStderr();
}
template <class Of>
std::string read_all(typename Of::Options *options) {
    testing::internal::CaptureStderr();
    MallocOptionReader<typename Of::Options>(options, Of::kTable).read_all();
    return testing::internal::GetCapturedStderr();
}
std::ptrdiff_t lines(const std::string &text) { return std::count(text.begin(), text.end(), '\n'); }

template <class Of>
class MallocOptionsTest : public testing::Test {};
using Tables = testing::Types<OfArenas, OfPages>;
TYPED_TEST_SUITE(MallocOptionsTest, Tables);

TYPED_TEST(MallocOptionsTest, EachLetterStandsOnceAndOptionsBeginWithinTheirBounds) {
    std::set<char> letters;
    for (const auto &option : TypeParam::kTable) {
        EXPECT_TRUE(letters.insert(option.more).second) << option.more;
        EXPECT_TRUE(letters.insert(option.less).second) << option.less;
        EXPECT_GE(typename TypeParam::Options().*option.value, option.least) << option.more;
        EXPECT_LE(typename TypeParam::Options().*option.value, option.most) << option.more;
    }
}

TYPED_TEST(MallocOptionsTest, EachLetterGoesUpAndDownWithinItsBounds) {
    for (const auto &option : TypeParam::kTable) {
        SCOPED_TRACE(option.more);
        const std::string more(1, option.more);
        const std::string less(1, option.less);
        typename TypeParam::Options options;
        while (options.*option.value < option.most) {
            const int before = options.*option.value;
            EXPECT_EQ(read<TypeParam>(&options, more), "");
            ASSERT_EQ(options.*option.value, before + 1);
        }
        EXPECT_EQ(lines(read<TypeParam>(&options, more)), option.is_switch() ? 0 : 1);
        EXPECT_EQ(options.*option.value, option.most);
        while (options.*option.value > option.least) {
            const int before = options.*option.value;
            EXPECT_EQ(read<TypeParam>(&options, less), "");
            ASSERT_EQ(options.*option.value, before - 1);
        }
        EXPECT_EQ(lines(read<TypeParam>(&options, less)), option.least == 0 && option.most == 1 ? 0 : 1);
        EXPECT_EQ(options.*option.value, option.least);
    }
}

TEST(MallocOptionLettersTest, WhatIsNoneIsToldAndTheRestGoesOn) {
    ArenaOptions options;
    const std::string said = read<OfArenas>(&options, "J7\nKKu");
    EXPECT_EQ(options.junk, 1);
    EXPECT_EQ(options.chunk_shift, ArenaOptions().chunk_shift + 2);
    EXPECT_EQ(lines(said), 3) << said;
    EXPECT_NE(said.find("ignoring '7' in MALLOC_OPTIONS: it is not an option; the options are AHJKNPQSVXZ\n"),
              said.npos)
        << said;
    EXPECT_NE(said.find("ignoring '?'"), said.npos) << "a line stays a line: " << said;
    EXPECT_NE(said.find("ignoring 'u'"), said.npos) << said;
}

TEST(MallocOptionLettersTest, MisuseOfArenasIsAlwaysFatal) {
    ArenaOptions options;
    EXPECT_EQ(read<OfArenas>(&options, "A"), "");
    EXPECT_EQ(lines(read<OfArenas>(&options, "a")), 1);
    EXPECT_EQ(options.abort, 1);
}

TEST(MallocOptionPlacesTest, TheEnvironmentsVariableAloneCounts) {
    PagedOptions options;
    setenv("XMALLOC_OPTIONS", "J", 1);
    setenv("MALLOC_OPTIONSX", "J", 1);
    EXPECT_EQ(read_all<OfPages>(&options), "");
    EXPECT_EQ(options.junk, 0);
    setenv("MALLOC_OPTIONS", "Z", 1);
    EXPECT_EQ(read_all<OfPages>(&options), "");
    for (const char *const name : {"XMALLOC_OPTIONS", "MALLOC_OPTIONSX", "MALLOC_OPTIONS"}) unsetenv(name);
    EXPECT_EQ(options.junk, 0);
    EXPECT_EQ(options.zero, 1);
}

TEST(MallocOptionPlacesTest, TheProgramsStringIsReadAfterTheEnvironment) {
    PagedOptions options;
    setenv("MALLOC_OPTIONS", "JZ", 1);
    string_of_program = "z7";
    const std::string said = read_all<OfPages>(&options);
    string_of_program = nullptr;
    unsetenv("MALLOC_OPTIONS");
    EXPECT_EQ(options.junk, 1);
    EXPECT_EQ(options.zero, 0);
    EXPECT_NE(said.find("ignoring '7' in _malloc_options: "), said.npos) << said;
}

TEST(MallocOptionPlacesTest, ALinksTextIsLetters) {
    const std::string link = testing::TempDir() + "malloc.conf." + std::to_string(getpid());
    ASSERT_EQ(symlink("H>7", link.c_str()), 0);
    PagedOptions options;
    const int errno_before = errno = EDOM;
    testing::internal::CaptureStderr();
    MallocOptionReader<PagedOptions> reader(&options, kPagedOptions);
    reader.read_link(link.c_str());
    ASSERT_EQ(unlink(link.c_str()), 0);
    reader.read_link(link.c_str());
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(options.hint, 1);
    EXPECT_EQ(options.cache_shift, PagedOptions().cache_shift + 1);
    EXPECT_EQ(lines(said), 1) << said;
    EXPECT_NE(said.find("ignoring '7' in " + link + ": "), said.npos) << said;
    EXPECT_EQ(errno, errno_before);
}

TEST(MallocOptionFillTest, BlocksAreFilledAsAsked) {
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

TEST(MallocOptionFillTest, ExhaustionEndsInALine) {
    EXPECT_DEATH(die_of_exhaustion(12345), "no memory for 12345 bytes; aborting, because of option X");
}

}  // namespace gr::lab::malloc_options_test
