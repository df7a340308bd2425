// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a program that uses the heap and prints how it was configured, for options.py and set_uid.py; with an argument as
//    JSON, as the library does.
// Invariant: exit code 0 means that the heap worked.
// Must not know: which options are set.
#include "black_box.hpp"

#include <sys/auxv.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace {

void print_option(const char *name) {
    char value[8192] = "";  // longer than any path
    const int length = gr_option_get(name, value, sizeof value);
    if (length < 0 || std::strlen(value) != static_cast<size_t>(length)) {
        std::exit(1);
    }
    std::printf("%s=%s\n", name, value);
}

}  // namespace

int main(int argc, char **) {
    for (size_t size = 1; size < 1'000'000; size *= 3) {
        void *block = std::malloc(size);
        if (block == nullptr) {
            return 1;
        }
        std::memset(block, 1, size);
        std::free(block);
    }
    if (argc > 1) {
        return gr_options_print(1, GR_JSON) == 0 ? 0 : 1;
    }
    std::printf("AT_SECURE=%lu\n", getauxval(AT_SECURE));
    const unsigned char *const fresh = gr::black_box::opaque(static_cast<unsigned char *>(std::malloc(100)));
    std::printf("NEW_BYTE=%02x\n", fresh[50]);
    for (const char *name : {"STATS", "STATS_FILE", "STATS_INTERVAL", "VERBOSE", "OPTIONS_FILE", "RSEQ", "REGION",
                             "RETAIN", "REUSE", "DIRECT", "MAGAZINE", "LIMIT", "HUGE_PAGES", "BACKGROUND", "DEEPBIND",
                             "JUNK", "ZERO", "GC_POLICY", "GC_TRACER"}) {
        print_option(name);
    }
    return 0;
}
