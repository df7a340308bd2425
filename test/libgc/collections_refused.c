/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: a program that allocates where nothing can be collected, because no descriptor for /proc is to be had.
 * Invariant: tries become rarer as the heap grows.
 * Must not know: why a collection needs /proc.
 */
#define GC_THREADS
#include <gc.h>
#include <sys/resource.h>

#include "check.h"

enum { kObjects = 1 << 21, kMostTries = 64 };

static int tries;
static void count_begin(GC_EventType event) { tries += event == GC_EVENT_START; }
static void ignore(char *format, GC_word argument) {
    (void)format;
    (void)argument;
}

int main(void) {
    exit_on_bdwgc("collections without /proc"); /* it needs none */
    GC_INIT();
    GC_set_warn_proc(ignore);
    GC_set_on_collection_event(count_begin);
    const struct rlimit none = {0, 0};
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0, "setrlimit failed");
    for (int i = 0; i < kObjects; ++i) CHECK(GC_malloc(48) != NULL, "no memory");
    CHECK(tries > 1 && tries < kMostTries, "%d collections were tried", tries);
    return 0;
}
