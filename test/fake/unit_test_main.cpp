// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: main of a program of unit tests: its argument is the stem of a source, whose tests alone run; without one all.
// Invariant: a source without tests is an error, and a filter that is given stands.
// Must not know: the tests.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

namespace {

// The tests of one source, as GoogleTest's filter.
std::string tests_of(std::string_view stem) {
    std::string names;
    const testing::UnitTest &all = *testing::UnitTest::GetInstance();
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
        const testing::TestSuite &suite = *all.GetTestSuite(i);
        for (int j = 0; j < suite.total_test_count(); ++j) {
            const testing::TestInfo &test = *suite.GetTestInfo(j);
            if (std::filesystem::path(test.file()).stem() != stem) continue;
            if (!names.empty()) names += ':';
            names += std::string(suite.name()) + '.' + test.name();
        }
    }
    return names;
}

}  // namespace

int main(int argc, char **argv) {
    testing::InitGoogleTest(&argc, argv);
    if (argc > 1 && GTEST_FLAG_GET(filter) == "*") {
        const std::string names = tests_of(argv[1]);
        if (names.empty()) {
            std::fprintf(stderr, "%s: no test comes from %s.cpp; name a source of this program, without .cpp\n",
                         argv[0], argv[1]);
            return 2;
        }
        GTEST_FLAG_SET(filter, names);
    }
    return RUN_ALL_TESTS();
}
