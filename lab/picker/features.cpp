// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: prints the words of the design space and the rules of its sums, for the page that picks an allocator; or what
//    the rules say of the sums that its arguments name.
// Invariant: one line for each word, rule or sum, in the order of the tables or arguments; its fields are separated by
//    tabs, the words of a rule's field by spaces.
// Must not know: the page; which words and rules there are.
#include "parts/stores/features.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>

namespace {

using namespace gr::lab;

void print_field(Features features) {
    const char *separator = "\t";
    if (features.bits == 0) std::fputs(separator, stdout);
    for (const FeatureWord &word : kFeatureWords) {
        if (!features.have(word.feature)) continue;
        std::printf("%s%s", separator, word.name);
        separator = " ";
    }
}

void print_tables() {
    for (const FeatureWord &word : kFeatureWords) {
        std::printf("word\t%s\t%s\t%s\n", word.name, word.group, word.meaning);
    }
    for (const SumRule &rule : kSumRules) {
        std::fputs("rule", stdout);
        for (const Features features : {rule.where, rule.where_any, rule.needs, rule.excludes, rule.needs_one}) {
            print_field(features);
        }
        std::printf("\t%s\n", rule.why);
    }
}

// Of a sum that is written a+b. An empty text is the sum of no words.
bool print_judgement(std::string_view written) {
    Features sum;
    for (std::string_view rest = written; !rest.empty();) {
        const std::string_view name = rest.substr(0, rest.find('+'));
        rest.remove_prefix(std::min(rest.size(), name.size() + 1));
        const auto *const word = std::ranges::find(kFeatureWords, name, &FeatureWord::name);
        if (word == kFeatureWords.end()) {
            std::fprintf(stderr, "features: %.*s: no such word; without arguments features prints all words\n",
                         static_cast<int>(name.size()), name.data());
            return false;
        }
        sum = sum + word->feature;
    }
    const char *const objection = objection_to(sum);
    std::printf("%.*s\t%s\n", static_cast<int>(written.size()), written.data(),
                *objection == '\0' ? "legal" : objection);
    return true;
}

}  // namespace

int main(int count, char **words) {
    if (count == 1) print_tables();
    for (int i = 1; i < count; ++i) {
        if (!print_judgement(words[i])) return 2;
    }
    return std::fflush(stdout) == 0 ? 0 : 1;
}
