// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the JSON of a trace that somebody else made.
// Invariant: a number that the field cannot hold is damage, never another number.
// Must not know: how chunks lie in a file.
#include "reading/trace/json.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "reading/trace/columns.hpp"

namespace gr::trace {
namespace {

TEST(Json, NumbersThatTheFieldHoldsAreRead) {
    Start start;
    from_json(R"({"process": -1, "page_bytes": 18446744073709551615, "cpus": 4294967295, "clock_nanoseconds": 0.5,
                  "lossy": true, "ran_before": true})",
              &start);
    EXPECT_EQ(start.process, -1);
    EXPECT_EQ(start.page_bytes, std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(start.cpus, std::numeric_limits<std::uint32_t>::max());
    EXPECT_EQ(start.clock_nanoseconds, 0.5);
    EXPECT_TRUE(start.lossy);
    EXPECT_TRUE(start.ran_before);
}

TEST(Json, OtherNumbersAreDamage) {
    for (const char *text : {R"({"page_bytes": 4e96})", R"({"page_bytes": -1})", R"({"page_bytes": 0.5})",
                             R"({"page_bytes": 18446744073709551616})", R"({"cpus": 4294967296})", R"({"cpus": -1})",
                             R"({"process": 18446744073709551615})", R"({"process": 1e19})", R"({"page_bytes": "1"})",
                             R"({"lossy": 1})"}) {
        Start start;
        EXPECT_THROW(from_json(text, &start), Damage) << text;
    }
    std::vector<Thread> threads;
    EXPECT_THROW(from_json(R"([{"number": 4294967296}])", &threads), Damage);
    EXPECT_THROW(from_json(R"([{"first": 1e30}])", &threads), Damage);
}

}  // namespace
}  // namespace gr::trace
