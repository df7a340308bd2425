/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: GC_FIND_LEAK: a collection lists at most forty leaked objects, and says how many it does not list.
 * Invariant: one process leaks, another reads what it writes.
 * Must not know: where the collector finds leaked objects.
 */
#include <gc.h>

#include "check.h"

enum { kLeaked = 5000, kMostListed = 40, kFewest = kLeaked * 9 / 10 };

NOINLINE static void leak(void) {
    for (int i = 0; i < kLeaked; ++i) *(volatile int *)GC_malloc_atomic(100) = i;
}

static void collect_once(int output) {
    dup2(output, STDERR_FILENO);
    dup2(output, STDOUT_FILENO);
    setenv("GC_FIND_LEAK", "1", 1);
    GC_INIT();
    GC_disable();
    leak();
    scrub();
    GC_enable();
    GC_gcollect();
    exit(0);
}

int main(void) {
    int ends[2];
    CHECK(pipe(ends) == 0, "no pipe");
    pid_t child = fork();
    CHECK(child >= 0, "no process");
    if (child == 0) collect_once(ends[1]);
    close(ends[1]);
    FILE *lines = fdopen(ends[0], "r");
    char line[1024];
    unsigned long listed = 0, others = 0;
    while (fgets(line, sizeof line, lines) != NULL) {
        if (strstr(line, "object at ") != NULL) ++listed;
        sscanf(line, "leaked objects that are not listed: %lu", &others);
    }
    fclose(lines);
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0, "status %#x", (unsigned)status);
    CHECK(listed > 0 && listed <= kMostListed, "%lu objects are listed", listed);
    if (skip_on_bdwgc("it does not say how many leaked objects it does not list")) return 0;
    CHECK(listed == kMostListed && listed + others >= kFewest && listed + others <= kLeaked,
          "%lu objects are listed, %lu are not", listed, others);
    return 0;
}
