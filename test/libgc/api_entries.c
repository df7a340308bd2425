/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: GC_malloc, GC_malloc_atomic and GC_free of every size around those that sequences serve: what is given is
 *    zero, as long as was asked for and one byte more, and apart from other objects; what is freed is counted, and NULL
 *    is not.
 * Invariant: this holds with interior pointers and without (an argument).
 * Must not know: how blocks are found.
 */
#include <gc.h>

#include "check.h"

enum { kFineBytes = 1200, kMostBytes = 34000, kHeld = 64, kRounds = 3 };

static unsigned char *held[kHeld];

static void fill(unsigned char *block, size_t size, unsigned char with) { memset(block, with, size); }

static int is_all(const unsigned char *block, size_t size, unsigned char value) {
    for (size_t i = 0; i < size; i++)
        if (block[i] != value) return 0;
    return 1;
}

/* Filled by its usual size, so that the next owner of the block finds what was not zeroed. */
static void check_size(size_t size, int more) {
    for (int i = 0; i < kHeld; i++) {
        held[i] = GC_malloc(size);
        CHECK(held[i] != NULL && (uintptr_t)held[i] % 16 == 0, "%zu bytes: %p", size, (void *)held[i]);
        size_t usable = GC_size(held[i]);
        CHECK(usable >= size + (size_t)more, "%zu bytes: %zu are usable", size, usable);
        CHECK(is_all(held[i], usable, 0), "%zu bytes are not zero", size);
        fill(held[i], usable, (unsigned char)(i + 1));
    }
    for (int i = 0; i < kHeld; i++)
        CHECK(is_all(held[i], GC_size(held[i]), (unsigned char)(i + 1)), "%zu bytes have two owners", size);
    size_t before = GC_get_expl_freed_bytes_since_gc();
    size_t freed = 0;
    for (int i = 0; i < kHeld; i++) {
        freed += GC_size(held[i]);
        GC_free(held[i]);
    }
    size_t counted = GC_get_expl_freed_bytes_since_gc() - before;
    CHECK(counted == freed, "%zu bytes: %zu freed, %zu counted", size, freed, counted);
}

static void check_atomic(size_t size, int more) {
    for (int i = 0; i < kHeld; i++) {
        held[i] = GC_malloc_atomic(size);
        CHECK(held[i] != NULL && GC_size(held[i]) >= size + (size_t)more, "%zu bytes: too few", size);
        fill(held[i], GC_size(held[i]), (unsigned char)(i + 1));
    }
    for (int i = 0; i < kHeld; i++) {
        CHECK(is_all(held[i], GC_size(held[i]), (unsigned char)(i + 1)), "%zu bytes have two owners", size);
        GC_free(held[i]);
    }
}

/* Every size at first; then those around multiples of 512, where all classes end. */
static size_t next(size_t size) { return size < kFineBytes || (size + 2) % 512 < 3 ? size + 1 : size + 509; }

int main(int argc, char **argv) {
    (void)argv;
    GC_free(NULL); /* before anything is initialised, too */
    if (argc > 1) GC_set_all_interior_pointers(0);
    GC_INIT();
    GC_disable(); /* so that all that is freed is counted since one collection */
    GC_free(NULL);
    for (int round = 0; round < kRounds; round++)
        for (size_t size = 0; size <= kMostBytes; size = next(size)) {
            check_size(size, argc > 1 ? 0 : 1);
            check_atomic(size, argc > 1 ? 0 : 1);
        }
    GC_enable();
    GC_gcollect();
    return 0;
}
