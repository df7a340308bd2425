/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: the filter for segments of libraries, and libraries switched off as a whole.
 * Invariant: variables of a library that is filtered out are no roots.
 * Must not know: how libraries are found.
 */
#include <gc.h>

#include "library.h"
#include "watched.h"

static void *volatile *bss;
static int asked, strange, drop;

/* 0: not a root. */
static int filter(const char *file, void *start, size_t size) {
    ++asked;
    if (file == NULL || start == NULL || size == 0) ++strange;
    return !(drop && file != NULL && strstr(file, "library.so") != NULL);
}

static void put(int i, void *object) { bss[i] = object; }
static void clear(int i) { bss[i] = NULL; }

static void expect_no_root(const char *what) {
    static struct watched watched[kPlaces];
    fill(bss, watched, kPlaces);
    collect();
    expect_half_dead(watched, kPlaces, what);
    for (int i = 0; i < kPlaces; ++i) clear(i);
    forget(watched, kPlaces);
}

int main(void) {
    GC_INIT();
    void *library = library_open("library.so");
    bss = library_symbol(library, "library_bss");
    GC_register_has_static_roots_callback(filter);
    check_place(&(struct place){.what = "bss of a library that the filter lets through", .put = put, .clear = clear});
    CHECK(asked != 0, "the filter was not asked");
    CHECK(strange == 0, "%d segments have no file, no start or no size", strange);
    drop = 1;
    GC_gcollect();
    expect_no_root("bss of a library that the filter drops");
    drop = 0;
    GC_gcollect();
    check_place(&(struct place){.what = "bss of a library that is let through again", .put = put, .clear = clear});
    GC_register_has_static_roots_callback(NULL);
    return 0;
}
