/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: objects where others lay many collections ago, in a program all of whose memory is locked.
 * Invariant: what they point to is kept.
 * Must not know: how a collector tells its marks from older ones.
 */
#include <gc.h>
#include <sys/mman.h>

#include "check.h"

enum { kObjects = 3000, kSize = 3000, kFirst = 253, kLast = 255, kPlace = 5 };
static void **objects[kObjects];

static GC_word *make_large(int size, GC_word content) {
    GC_word *large = GC_MALLOC((size_t)size);
    *large = content;
    return large;
}

NOINLINE static void make_objects(void) {
    for (int i = 0; i < kObjects; ++i) objects[i] = GC_MALLOC(kSize);
}

/* And at no other time. */
NOINLINE static void collect_once(void) {
    GC_enable();
    GC_gcollect();
    GC_disable();
}

NOINLINE static void check(int collections) {
    const int size = 40000 + collections % 3 * 70000; /* other places than before */
    make_objects();
    collect_once();
    memset(objects, 0, sizeof objects);
    scrub();
    for (int i = 0; i < collections; ++i) collect_once();
    make_objects();
    for (int i = 0; i < kObjects; ++i) objects[i][kPlace] = make_large(size, 1);
    scrub();
    collect_once();
    for (int i = 0; i < kObjects; ++i) make_large(size, 2);
    int lost = 0;
    for (int i = 0; i < kObjects; ++i) lost += *(GC_word *)objects[i][kPlace] != 1;
    CHECK(lost == 0, "%d collections later %d of %d objects were lost", collections, lost, kObjects);
    memset(objects, 0, sizeof objects);
}

int main(void) {
    exit_on_bdwgc("memory that is locked");
    GC_INIT();
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) not_available("locked memory");
    GC_disable();
    for (int collections = kFirst; collections <= kLast; ++collections) check(collections);
    return 0;
}
