/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: environment variables that are read at the start.
 * Invariant: a variable wins over the default and loses to a later call.
 * Must not know: who else reads them.
 */
#define GC_THREADS
#include <gc.h>
#include <sys/wait.h>

#include "check.h"

static int free_space_divisor(void) { return GC_get_free_space_divisor() == 11; }
static int full_frequency(void) { return GC_get_full_freq() == 5; }
static int pause_time(void) { return GC_get_time_limit() == 33; }
static int initial_heap(void) { return GC_get_heap_size() >= (20 << 20); }
static int maximum_heap(void) {
    static void *volatile kept[1000];
    int i = 0;
    GC_set_warn_proc(GC_ignore_warn_proc);
    while (i < 1000 && (kept[i] = GC_malloc(1 << 20)) != NULL) ++i;
    return i <= 24 && GC_get_max_retries() == 2;
}
static int is_off(void) {
    GC_word before = GC_get_gc_no();
    GC_gcollect();
    return GC_is_disabled() && GC_get_gc_no() == before;
}
static int unmaps(void) { return GC_get_force_unmap_on_gcollect() == 1; }
static int one_marker(void) {
    GC_gcollect();
    return GC_get_parallel() == 0;
}
static int entire_heap(void) { return GC_use_entire_heap != 0; }

static const struct {
    const char *name, *value;
    int (*holds)(void);
} variables[] = {{"GC_FREE_SPACE_DIVISOR", "11", free_space_divisor},
                 {"GC_FULL_FREQUENCY", "5", full_frequency},
                 {"GC_PAUSE_TIME_TARGET", "33", pause_time},
                 {"GC_INITIAL_HEAP_SIZE", "20M", initial_heap},
                 {"GC_INITIAL_HEAP_SIZE", "20480k", initial_heap},
                 {"GC_INITIAL_HEAP_SIZE", "20971520", initial_heap},
                 {"GC_MAXIMUM_HEAP_SIZE", "24M", maximum_heap},
                 {"GC_DONT_GC", "", is_off},
                 {"GC_FORCE_UNMAP_ON_GCOLLECT", "1", unmaps},
                 {"GC_MARKERS", "1", one_marker},
                 {"GC_USE_ENTIRE_HEAP", "1", entire_heap}};

int main(void) {
    for (unsigned i = 0; i < sizeof variables / sizeof variables[0]; ++i) {
        pid_t child = fork();
        if (child == 0) {
            setenv(variables[i].name, variables[i].value, 1);
            GC_INIT();
            _exit(variables[i].holds() ? 0 : 1);
        }
        int status;
        CHECK(child > 0 && waitpid(child, &status, 0) == child, "no process");
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s=%s: status %#x", variables[i].name, variables[i].value,
              status);
    }
    return 0;
}
