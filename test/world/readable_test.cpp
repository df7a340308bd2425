// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which pages can be read, and which of them were written: with guards, protected pages and holes between them.
// Invariant: reading a page that is not told ends the process.
// Must not know: what a collector looks for.
#include "platform/world/readable.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <string>

#include "platform/world/written_pages.hpp"

namespace gr::platform::readable_test {

constexpr int kInstallGuard = 102;  // MADV_GUARD_INSTALL
constexpr std::size_t kPages = 8;

// Each page with a letter of its own, all of them written.
class Pages {
  public:
    Pages()
        : begin_(
              static_cast<char *>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
        for (std::size_t i = 0; i < kPages; ++i) *at(i) = static_cast<char>('a' + i);
    }
    ~Pages() { munmap(begin_, kBytes); }
    Pages(const Pages &) = delete;
    Pages &operator=(const Pages &) = delete;

    char *at(std::size_t page) const { return begin_ + page * page_size(); }
    Range all() const { return {begin_, begin_ + kBytes}; }

  private:
    const std::size_t kBytes = kPages * page_size();
    char *begin_;
};

// The letters of the pages of a row, read.
std::string letters(Range row) {
    std::string found;
    for (const char *at = row.begin; at < row.end; at += page_size()) found += *at;
    return found + ' ';
}

std::string readable(Range whole) {
    std::string found;
    for_each_readable(whole, [&](Range row) { found += letters(row); });
    return found;
}

std::string written(Range whole) {
    std::string found;
    WrittenPages pages;
    EXPECT_TRUE(pages.for_each(whole, WrittenPages::Of::memory, [&](Range row) { found += letters(row); }));
    return found;
}

TEST(ReadableTest, ProtectedPagesAndHolesAreLeftOut) {
    const Pages pages;
    EXPECT_EQ(readable(pages.all()), "abcdefgh ");
    ASSERT_EQ(mprotect(pages.at(2), page_size(), PROT_NONE), 0);
    ASSERT_EQ(munmap(pages.at(4), page_size()), 0);
    ASSERT_EQ(munmap(pages.at(7), page_size()), 0);
    EXPECT_EQ(readable(pages.all()), "ab d fg ");
}

TEST(ReadableTest, ARangeEndsWhereItEnds) {
    const Pages pages;
    ASSERT_EQ(mprotect(pages.at(1), page_size(), PROT_NONE), 0);
    const Range whole{pages.at(0) + 64, pages.at(3) + 8};
    std::size_t rows = 0;
    for_each_readable(whole, [&](Range row) {
        EXPECT_EQ(row.begin, rows == 0 ? whole.begin : pages.at(2));
        EXPECT_EQ(row.end, rows == 0 ? pages.at(1) : whole.end);
        ++rows;
    });
    EXPECT_EQ(rows, 2U);
    EXPECT_EQ(readable({pages.at(2), pages.at(2)}), "");
}

TEST(ReadableTest, GuardsAreLeftOut) {
    const Pages pages;
    if (madvise(pages.at(2), page_size(), kInstallGuard) != 0) GTEST_SKIP() << "a kernel without MADV_GUARD_INSTALL";
    ASSERT_EQ(madvise(pages.at(5), 2 * page_size(), kInstallGuard), 0);
    EXPECT_EQ(readable(pages.all()), "ab de h ");
    EXPECT_EQ(written(pages.all()), "ab de h ");
}

TEST(WrittenPagesTest, WhatWasNeverWrittenIsLeftOut) {
    const Pages pages;
    EXPECT_EQ(written(pages.all()), "abcdefgh ");
    ASSERT_EQ(madvise(pages.at(3), page_size(), MADV_DONTNEED), 0);
    EXPECT_EQ(written(pages.all()), "abc efgh ");
}

}  // namespace gr::platform::readable_test
