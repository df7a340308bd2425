// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: prints one machine-readable report (the first argument names it), for reports.py to parse.
// Invariant: standard output holds the report and nothing else.
// Must not know: what a report contains.
#include "black_box.hpp"

#include <malloc.h>

using namespace gr::black_box;

constexpr int kDescriptors = 200;

int main(int argc, char **argv) {
    require_granary();
    const char *report = argc == 2 ? argv[1] : "";
    void *held[3] = {std::malloc(100), std::malloc(200 * 1024), std::malloc(64 * 1024 * 1024)};
    int result = 2;
    if (std::strcmp(report, "malloc_info") == 0) {
        result = malloc_info(0, stdout);
    } else if (std::strcmp(report, "statistics") == 0) {
        result = gr_statistics_print(STDOUT_FILENO, GR_JSON);
    } else if (std::strcmp(report, "statistics_text") == 0) {
        result = gr_statistics_print(STDOUT_FILENO, GR_TEXT);
    } else if (std::strcmp(report, "statistics_prometheus") == 0) {
        result = gr_statistics_print(STDOUT_FILENO, GR_PROMETHEUS);
    } else if (std::strcmp(report, "options") == 0) {
        result = gr_options_print(STDOUT_FILENO, GR_JSON);
    } else if (std::strcmp(report, "nothing") == 0) {
        result = 0;
        // Every number that the library may have kept is standard output now.
        for (int fd = STDERR_FILENO + 1; fd < kDescriptors; ++fd) result |= dup2(STDOUT_FILENO, fd) < 0;
    } else if (std::strcmp(report, "nothing_at_all") == 0) {
        result = 0;
        for (int fd = STDERR_FILENO; fd < kDescriptors; ++fd) result |= dup2(STDOUT_FILENO, fd) < 0;
    }
    for (void *block : held) {
        std::free(opaque(block));
    }
    return result;
}
