// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: text made printable: what stays, what becomes a question mark, and its form in JSON.
// Invariant: nothing is read behind the end of the text.
// Must not know: whose text it is.
#include "base/printable.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gr::printable_test {

std::string printable(std::string text) {
    make_printable(text.data(), text.size());
    return text;
}

TEST(Printable, LeavesWhatCanBePrinted) {
    for (const char *text :
         {"", "/bin/true -x 'a b'", "\xC3\xA4\xC3\xB6", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\"\\"}) {
        EXPECT_EQ(printable(text), text);
    }
}

TEST(Printable, ReplacesControlCharacters) { EXPECT_EQ(printable("a\nb\x1b[1m\x7f\t"), "a?b?[1m??"); }

TEST(Printable, ReplacesWhatIsNoCharacter) {
    EXPECT_EQ(printable("a\x80z"), "a?z");                       // nothing begins so
    EXPECT_EQ(printable("\xC3z"), "?z");                         // nothing follows
    EXPECT_EQ(printable("\xC0\xAF"), "??");                      // longer than need be
    EXPECT_EQ(printable("\xE0\x80\xAF"), "???");                 // the same
    EXPECT_EQ(printable("\xED\xA0\x80"), "???");                 // half of a pair
    EXPECT_EQ(printable("\xF0\x80\x80\xAF"), "????");            // longer than need be
    EXPECT_EQ(printable("\xF4\x90\x80\x80\xF5\x80"), "??????");  // beyond the last
}

TEST(Printable, ReplacesWhatTheEndCuts) {
    const std::string euro = "\xE2\x82\xAC";
    EXPECT_EQ(printable(euro.substr(0, 2)), "??");
    EXPECT_EQ(printable(euro.substr(0, 1)), "?");
    // The rest lies behind the end.
    std::string text = euro;
    make_printable(text.data(), 2);
    EXPECT_EQ(text, std::string("??") + euro[2]);
}

TEST(Printable, QuotesForJson) {
    TextBuffer<32> text;
    put_json_string(text, R"(a "b" \c)");
    EXPECT_EQ(std::string(text.data(), text.size()), R"("a \"b\" \\c")");
}

}  // namespace gr::printable_test
