/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: GC_realloc: from and to nothing, growing and shrinking through all sizes, in each kind, and failing.
 * Invariant: contents and kind stay, what is new is zero in scanned objects, a failure leaves the object alone.
 * Must not know: size classes.
 */
#include <gc.h>
#include <gc/gc_mark.h>

#include "check.h"

static unsigned char byte_at(size_t i) { return (unsigned char)(mixed(i) | 1); }

static void expect_contents(const unsigned char *object, size_t n, const char *what, size_t size) {
    for (size_t i = 0; i < n; ++i) CHECK(object[i] == byte_at(i), "%s: byte %zu changed, new size %zu", what, i, size);
}

/* The first `valid` bytes are the pattern, the rest up to the size is zero if the kind is cleared. */
static void walk(void *(*allocate)(size_t), int kind, const char *what) {
    uint64_t random = 7;
    size_t size = 1;
    unsigned char *object = allocate(size);
    object[0] = byte_at(0);
    for (int step = 0; step < 3000; ++step) {
        size_t before = size;
        uint64_t r = next_random(&random);
        unsigned bits = 1 + (unsigned)(r % (step % 50 == 0 ? 21 : 13));
        size = 1 + (r >> 20) % (1u << bits);
        if (step % 3 == 0) size = before + 1 + (r >> 20) % 16;
        unsigned char *moved = GC_realloc(object, size);
        CHECK(moved != NULL, "%s: GC_realloc to %zu gave NULL", what, size);
        CHECK((uintptr_t)moved % 16 == 0, "%s: GC_realloc to %zu gave %p", what, size, (void *)moved);
        expect_contents(moved, before < size ? before : size, what, size);
        size_t slot;
        CHECK(GC_get_kind_and_size(moved, &slot) == kind, "%s: GC_realloc changed the kind", what);
        CHECK(slot >= size, "%s: a slot of %zu for %zu", what, slot, size);
        if (kind == 1 || kind == 2)
            for (size_t i = before; i < size; ++i)
                CHECK(moved[i] == 0, "%s: byte %zu is not zero after %zu became %zu", what, i, before, size);
        for (size_t i = before; i < size; ++i) moved[i] = byte_at(i);
        object = moved;
    }
    GC_free(object);
}

static void *no_memory(size_t size) {
    (void)size;
    return NULL;
}

int main(void) {
    GC_INIT();
    char *object = GC_realloc(NULL, 100);
    CHECK(object != NULL && GC_get_kind_and_size(object, NULL) == 1, "GC_realloc(NULL, 100) is no GC_malloc(100)");
    for (int i = 0; i < 100; ++i) CHECK(object[i] == 0, "GC_realloc(NULL, 100) is not zeroed");
    CHECK(GC_realloc(object, 0) == NULL, "GC_realloc(object, 0) gave something");

    walk(GC_malloc, 1, "scanned");
    walk(GC_malloc_atomic, 0, "pointer-free");
    walk(GC_malloc_uncollectable, 2, "uncollectable");
    walk(GC_malloc_atomic_uncollectable, 3, "pointer-free uncollectable");

    volatile size_t all_ones = SIZE_MAX; /* the compiler knows better */
    GC_set_oom_fn(no_memory);
    GC_set_warn_proc(GC_ignore_warn_proc);
    unsigned char *kept = GC_malloc(1000);
    for (size_t i = 0; i < 1000; ++i) kept[i] = byte_at(i);
    CHECK(GC_realloc(kept, SIZE_MAX / 2) == NULL, "GC_realloc to an impossible size gave something");
    CHECK(GC_realloc(kept, all_ones) == NULL, "GC_realloc to SIZE_MAX gave something");
    expect_contents(kept, 1000, "after a failure", 1000);
    CHECK(GC_base(kept) == kept, "a failure freed the object");
    return 0;
}
