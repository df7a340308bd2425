// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the numbers of places, and what is told of each, and when.
// Invariant: none.
// Must not know: stacks.
#include "commands/record/place_table.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "reading/trace/event.hpp"

namespace gr::tool::place_table_test {

trace::Place function(const char *name, int line = 1) {
    trace::Place place;
    place.function = name;
    place.file = "program.py";
    place.line = line;
    return place;
}

std::uint32_t number_of_address(std::uint64_t address) {
    return static_cast<std::uint32_t>(address - trace::kFirstPlace);
}

TEST(PlaceTable, AWordKeepsItsNumber) {
    PlaceTable places;
    const std::uint64_t one = places.of_word(11);
    EXPECT_GE(one, trace::kFirstPlace);
    EXPECT_NE(places.of_word(12), one);
    places.describe(11, function("f"));
    EXPECT_EQ(places.of_word(11), one);
}

TEST(PlaceTable, EachPlaceIsToldOnce) {
    PlaceTable places;
    EXPECT_FALSE(places.has_untold());
    places.describe(11, function("f"));
    places.describe(12, function("g"));
    EXPECT_TRUE(places.has_untold());
    const std::vector<trace::Place> told = places.take_untold();
    ASSERT_EQ(told.size(), 2U);
    EXPECT_EQ(told[0].function, "f");
    EXPECT_EQ(told[0].number, number_of_address(places.of_word(11)));
    EXPECT_EQ(told[1].function, "g");
    EXPECT_EQ(told[1].number, number_of_address(places.of_word(12)));
    places.describe(11, function("f"));
    EXPECT_FALSE(places.has_untold()) << "nothing new was said";
}

TEST(PlaceTable, WordsOfOneLineAreOnePlace) {
    PlaceTable places;
    places.describe(11, function("f", 3));
    places.describe(12, function("f", 3));
    places.describe(13, function("f", 4));
    EXPECT_EQ(places.of_word(11), places.of_word(12));
    EXPECT_NE(places.of_word(11), places.of_word(13));
    EXPECT_EQ(places.take_untold().size(), 2U);
}

// The description comes from another thread.
TEST(PlaceTable, AWordMayComeBeforeItsDescription) {
    PlaceTable places;
    const std::uint32_t number = number_of_address(places.of_word(11));
    std::vector<trace::Place> told = places.take_untold();
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].function, "");
    places.describe(11, function("f"));
    told = places.take_untold();
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].function, "f");
    EXPECT_EQ(told[0].number, number);
}

// A function went away, and another has its word.
TEST(PlaceTable, ALaterDescriptionOfAWordCounts) {
    PlaceTable places;
    places.describe(11, function("f"));
    const std::uint32_t number = places.take_untold().at(0).number;
    places.describe(11, function("g"));
    const std::vector<trace::Place> told = places.take_untold();
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].function, "g");
    EXPECT_EQ(told[0].number, number);
}

TEST(PlaceTable, CallsThatWereLeftOutAreOnePlaceForEachCaller) {
    PlaceTable places;
    const std::uint64_t one = places.left_out(trace::StackNumber{5}, 100);
    EXPECT_EQ(places.left_out(trace::StackNumber{5}, 70), one);
    EXPECT_NE(places.left_out(trace::StackNumber{6}, 100), one);
    const std::vector<trace::Place> told = places.take_untold();
    ASSERT_EQ(told.size(), 2U);
    EXPECT_EQ(told[0].least_calls, 70U);
    EXPECT_EQ(told[0].most_calls, 100U);
    EXPECT_EQ(told[1].least_calls, 100U);
    EXPECT_EQ(told[1].most_calls, 100U);
}

TEST(PlaceTable, IsToldAgainOnlyWhereTheNumbersOfCallsGrowApart) {
    PlaceTable places;
    (void)places.left_out(trace::StackNumber{5}, 100);
    (void)places.left_out(trace::StackNumber{5}, 200);
    (void)places.take_untold();
    (void)places.left_out(trace::StackNumber{5}, 150);
    EXPECT_FALSE(places.has_untold());
    (void)places.left_out(trace::StackNumber{5}, 201);
    const std::vector<trace::Place> told = places.take_untold();
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].least_calls, 100U);
    EXPECT_EQ(told[0].most_calls, 201U);
}

}  // namespace gr::tool::place_table_test
