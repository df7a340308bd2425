/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: empty memory goes back to the system after bursts, though the program took it again each time.
 * Invariant: GC_gcollect_and_unmap leaves little at once; GC_gcollect does as soon as the program has taken nothing
 *    again for a while. What went back counts as unmapped, and not as heap.
 * Must not know: how memory goes back.
 */
#include <gc.h>
#include <time.h>

#include "check.h"

enum { kBytes = 100 << 20, kEach = 512, kBursts = 3, kMostFree = 8 << 20, kTries = 1000 };

NOINLINE static void burst(void) {
    void **list = NULL;
    for (size_t bytes = 0; bytes < kBytes; bytes += kEach) {
        void **object = GC_malloc(kEach - 1);
        *object = list;
        list = object;
    }
}

static void bursts(void) {
    for (int i = 0; i < kBursts; ++i) {
        burst();
        scrub();
        GC_gcollect();
    }
}

static void check_returned(const char *after) {
    size_t heap = GC_get_heap_size(), unmapped = GC_get_unmapped_bytes();
    CHECK(GC_get_free_bytes() <= kMostFree, "%zu free bytes after %s", GC_get_free_bytes(), after);
    CHECK(heap <= 2 * kMostFree, "a heap of %zu bytes after %s", heap, after);
    CHECK(unmapped >= kBytes / 2, "%zu bytes unmapped after %s", unmapped, after);
}

int main(void) {
    struct timespec moment = {0, 10000000};
    GC_INIT();
    bursts();
    GC_gcollect_and_unmap();
    check_returned("GC_gcollect_and_unmap");
    if (skip_on_bdwgc("it unmaps what was free in some collections in a row")) return 0;
    bursts();
    for (int i = 0; i < kTries && GC_get_free_bytes() > kMostFree; ++i) {
        nanosleep(&moment, NULL);
        GC_gcollect();
    }
    check_returned("GC_gcollect while nothing was taken");
    return 0;
}
