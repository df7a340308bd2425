// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      a program that uses the heap and prints how it was configured, for options.py and set_uid.py.
// Invariant: exit code 0 means that the heap worked.
// Must not know: which options are set.
#include <granary/granary.h>

#include <sys/auxv.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace {

void print_option(const char *name) {
    char value[64] = "";
    if (gr_option_get(name, value, sizeof value) < 0) {
        std::exit(1);
    }
    std::printf("%s=%s\n", name, value);
}

}  // namespace

int main() {
    for (size_t size = 1; size < 1'000'000; size *= 3) {
        void *block = std::malloc(size);
        if (block == nullptr) {
            return 1;
        }
        std::memset(block, 1, size);
        std::free(block);
    }
    std::printf("AT_SECURE=%lu\n", getauxval(AT_SECURE));
    for (const char *name : {"STATS", "VERBOSE", "RSEQ", "REGION", "RETAIN", "REUSE", "DIRECT", "MAGAZINE", "LIMIT",
                             "HUGE_PAGES", "BACKGROUND", "DEEPBIND"}) {
        print_option(name);
    }
    return 0;
}
