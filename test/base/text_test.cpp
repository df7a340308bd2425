// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the bounded text writer against the C library's formatting, and its behaviour at the end of the buffer.
// Invariant: the byte behind the buffer is watched.
// Must not know: where texts go.
#include "base/text.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cinttypes>
#include <cstdio>
#include <string>

namespace gr::text_test {

std::string written(const Text &text) { return {text.data(), text.size()}; }

RC_GTEST_PROP(Text, WritesNumbersAsTheCLibraryDoes, (std::uint64_t n, std::uint32_t m)) {
    char expected[64];
    std::snprintf(expected, sizeof expected, "%" PRIu64 " %" PRIu32 " %p", n, m, reinterpret_cast<void *>(n | 1));
    TextBuffer<64> text;
    text << n << ' ' << m << ' ' << reinterpret_cast<const void *>(n | 1);
    RC_ASSERT(written(text) == expected);
}

TEST(Text, WritesTheExtremes) {
    TextBuffer<80> text;
    text << UINT64_MAX << ',' << std::uint8_t{0} << ',' << static_cast<const void *>(nullptr) << ','
         << reinterpret_cast<const void *>(UINTPTR_MAX);
    EXPECT_EQ(written(text), "18446744073709551615,0,0x0,0xffffffffffffffff");
}

TEST(Text, WritesAsMuchOfATextAsItsLengthSays) {
    TextBuffer<8> text;
    text << std::string_view("abcdef", 3) << std::string_view() << std::string_view("\0x", 2);
    EXPECT_EQ(written(text), std::string("abc\0x", 5));
}

TEST(Text, CutsWhatDoesNotFitAndSaysSo) {
    for (std::size_t capacity = 0; capacity < 12; ++capacity) {
        std::string buffer(13, '#');
        Text text(buffer.data(), capacity);
        text << "abc" << 1234567U;
        EXPECT_EQ(written(text), std::string("abc1234567").substr(0, capacity));
        EXPECT_EQ(text.truncated(), capacity < 10);
        EXPECT_EQ(buffer.substr(capacity), std::string(13 - capacity, '#'));
    }
}

TEST(Text, PadsFromTheStartOfTheLine) {
    TextBuffer<32> text;
    text << "x\n";
    const std::size_t line = text.size();
    text << "ab";
    text.pad(line, 5) << '|';
    text.pad(line, 2) << '|';
    EXPECT_EQ(written(text), "x\nab   ||");
    text.pad(0, 1000);
    EXPECT_EQ(text.size(), 32U);
}

TEST(Text, ClearedIsAsNew) {
    TextBuffer<4> text;
    text << "too long";
    ASSERT_TRUE(text.truncated());
    text.clear();
    EXPECT_EQ(text.size(), 0U);
    EXPECT_FALSE(text.truncated());
    text.pad(0, 2) << '|';
    EXPECT_EQ(written(text), "  |");
}

}  // namespace gr::text_test
