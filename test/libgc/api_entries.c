/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: GC_free and what allocates from the standard kinds, of every size around those that sequences serve: what is
 *    given is zero if it may hold pointers, as long as was asked for, found by a pointer one past its end, and apart
 *    from other objects; what is freed is counted, and NULL is not.
 * Invariant: this holds with interior pointers and without (an argument).
 * Must not know: how blocks are found.
 */
#include <gc.h>

#include "check.h"

enum { kFineBytes = 1200, kLargeBytes = 32768, kMostBytes = 34000, kHeld = 64, kRounds = 3 };

static unsigned char *held[kHeld];

static void fill(unsigned char *block, size_t size, unsigned char with) { memset(block, with, size); }

static int is_all(const unsigned char *block, size_t size, unsigned char value) {
    for (size_t i = 0; i < size; i++)
        if (block[i] != value) return 0;
    return 1;
}

static const struct function {
    const char *name;
    void *(*allocate)(size_t size);
    int zeroes, keeps;
} functions[] = {
    {"GC_malloc", GC_malloc, 1, 0},
    {"GC_malloc_atomic", GC_malloc_atomic, 0, 0},
    {"GC_malloc_uncollectable", GC_malloc_uncollectable, 1, 1},
    {"GC_malloc_atomic_uncollectable", GC_malloc_atomic_uncollectable, 0, 1},
};

/* Of a large object the byte for pointers past its end may take no memory, and does not count then. */
static int is_sum(size_t counted, size_t sum, size_t size) {
    return counted == sum || (size >= kLargeBytes && counted + kHeld == sum);
}

/* Filled by its usual size, so that the next owner of the block finds what was not zeroed. */
static void check_size(const struct function *f, size_t size, int more) {
    size_t freed = GC_get_expl_freed_bytes_since_gc();
    GC_word uncollectable = GC_get_non_gc_bytes();
    size_t sum = 0;
    for (int i = 0; i < kHeld; i++) {
        held[i] = f->allocate(size);
        CHECK(held[i] != NULL && (uintptr_t)held[i] % 16 == 0, "%s, %zu bytes: %p", f->name, size, (void *)held[i]);
        size_t usable = GC_size(held[i]);
        CHECK(usable >= size + (size_t)more, "%s, %zu bytes: %zu are usable", f->name, size, usable);
        CHECK(!more || GC_base(held[i] + size) == held[i], "%s, %zu bytes: one past the end is elsewhere", f->name,
              size);
        CHECK(!f->zeroes || is_all(held[i], usable, 0), "%s: %zu bytes are not zero", f->name, size);
        fill(held[i], usable, (unsigned char)(i + 1));
        sum += usable;
    }
    for (int i = 0; i < kHeld; i++)
        CHECK(is_all(held[i], GC_size(held[i]), (unsigned char)(i + 1)), "%s: %zu bytes have two owners", f->name,
              size);
    GC_word counted = GC_get_non_gc_bytes() - uncollectable;
    if (getenv("LIBGC_REFERENCE") == NULL)
        CHECK(is_sum(counted, f->keeps ? sum : 0, size), "%s, %zu bytes: %lu of %zu count as uncollectable", f->name,
              size, counted, sum);
    for (int i = 0; i < kHeld; i++) GC_free(held[i]);
    counted = GC_get_expl_freed_bytes_since_gc() - freed;
    CHECK(is_sum(counted, sum, size), "%s, %zu bytes: %zu freed, %lu counted", f->name, size, sum, counted);
    counted = GC_get_non_gc_bytes() - uncollectable;
    if (getenv("LIBGC_REFERENCE") == NULL)
        CHECK(counted == 0, "%s, %zu bytes: freed, and %lu count as uncollectable", f->name, size, counted);
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
        for (size_t size = 0; size <= kMostBytes; size = next(size))
            for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
                check_size(&functions[i], size, argc > 1 ? 0 : 1);
    GC_enable();
    GC_gcollect();
    return 0;
}
