// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the conformance tests' entry: proves that Granary is in use, then runs what --gtest_filter selects.
// Invariant: a filter that selects nothing fails.
// Must not know: the tests.
#include "black_box.hpp"

#include <gtest/gtest.h>

int main(int argc, char **argv) {
    gr::black_box::require_granary();
    testing::InitGoogleTest(&argc, argv);
    const int result = RUN_ALL_TESTS();
    if (testing::UnitTest::GetInstance()->test_to_run_count() == 0) {
        gr::black_box::leave(1, "--gtest_filter selects no test: correct the filter in CMakeLists.txt\n");
    }
    gr::black_box::require_sound_heap();
    return result;
}
