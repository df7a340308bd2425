// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: prints the words of the design space and the rules of its sums, for the page that picks an allocator.
// Invariant: one line for each word and each rule, in the order of the tables; its fields are separated by tabs, the
//    words of a field by spaces.
// Must not know: the page; which words and rules there are.
#include "parts/stores/features.hpp"

#include <cstdio>

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

}  // namespace

int main() {
    for (const FeatureWord &word : kFeatureWords)
        std::printf("word\t%s\t%s\t%s\n", word.name, word.group, word.meaning);
    for (const SumRule &rule : kSumRules) {
        std::fputs("rule", stdout);
        for (const Features features : {rule.where, rule.where_any, rule.needs, rule.excludes, rule.needs_one}) {
            print_field(features);
        }
        std::printf("\t%s\n", rule.why);
    }
    return std::fflush(stdout) == 0 ? 0 : 1;
}
