// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the words of the design space and the rules of its sums: each word is described, and no rule says what others
//    say.
// Invariant: sums of few words are tried, all of them.
// Must not know: which rules there are.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "parts/stores/features.hpp"

namespace gr::lab::legal_sums_test {

constexpr auto kWordCount = static_cast<unsigned>(kFeatureWords.size());

TEST(Words, EachFeatureIsDescribedInTheOrderOfTheFeatures) {
    ASSERT_EQ(kWordCount, static_cast<unsigned>(cleared_into_buffer) + 1);
    std::set<std::string> names;
    for (unsigned i = 0; i < kWordCount; ++i) {
        EXPECT_EQ(static_cast<unsigned>(kFeatureWords[i].feature), i) << kFeatureWords[i].name;
        names.insert(kFeatureWords[i].name);
    }
    EXPECT_EQ(names.size(), kWordCount);
}

// So many words are enough to break any rule.
constexpr int kFewWords = 5;

template <class Use>
void for_sums_of_few_words(Use use) {
    for (std::uint32_t bits = 0; bits < 1U << kWordCount; ++bits) {
        if (std::popcount(bits) > kFewWords) continue;
        Features sum;
        sum.bits = bits;
        use(sum);
    }
}

TEST(Rules, EachForbidsASumThatAllOthersAllow) {
    std::set<std::string> alone;
    for_sums_of_few_words([&alone](Features sum) {
        const auto breaks = [sum](const SumRule &rule) { return !rule.allows(sum); };
        if (std::ranges::count_if(kSumRules, breaks) == 1) alone.insert(objection_to(sum));
    });
    for (const SumRule &rule : kSumRules) EXPECT_TRUE(alone.contains(rule.why)) << "needless: " << rule.why;
}

TEST(Rules, TheObjectionIsTheReasonOfTheFirstRuleThatIsBroken) {
    EXPECT_STREQ(objection_to(thread_heaps), "");
    EXPECT_STREQ(objection_to({}), kSumRules[0].why);
    EXPECT_STREQ(objection_to(thread_heaps + coalescing + containers), kSumRules[1].why);
    EXPECT_STREQ(objection_to(thread_heaps + single_heap + coalescing + containers), kSumRules[0].why);
}

// A rule that concerns sums with all of some words, and one that concerns sums with any of some.
TEST(Rules, ConcernSumsWithAllOrWithAnyOfTheirWords) {
    const SumRule of_all{.where = coalescing + best_fit, .needs = search_tree};
    EXPECT_TRUE(of_all.allows(coalescing));
    EXPECT_FALSE(of_all.allows(coalescing + best_fit));
    EXPECT_TRUE(of_all.allows(coalescing + best_fit + search_tree));
    const SumRule of_any{.where_any = coalescing + best_fit, .excludes = search_tree};
    EXPECT_TRUE(of_any.allows(search_tree));
    EXPECT_TRUE(of_any.allows(coalescing));
    EXPECT_FALSE(of_any.allows(coalescing + search_tree));
    EXPECT_FALSE(of_any.allows(best_fit + search_tree));
}

}  // namespace gr::lab::legal_sums_test
