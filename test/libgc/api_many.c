/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: chains of objects: GC_malloc_many, GC_generic_malloc_many, and what gc_inline.h makes of them.
 * Invariant: a chain's objects are apart, zeroed but for the link, and kept by a pointer to the chain.
 * Must not know: how long a chain is.
 */
#include <gc.h>
#include <gc/gc_inline.h>
#include <gc/gc_mark.h>

#include "watched.h"

static void *volatile held; /* the chain */

static int check_chain(size_t size, int cleared, const char *what) {
    int length = 0;
    for (void *object = held; object != NULL; object = GC_NEXT(object)) {
        ++length;
        CHECK((uintptr_t)object % 16 == 0, "%s: an object of %zu bytes at %p", what, size, object);
        CHECK(GC_base(object) == object, "%s: an object is no base address", what);
        CHECK(GC_size(object) >= size, "%s: GC_size is %zu for %zu", what, GC_size(object), size);
        if (cleared)
            for (size_t i = sizeof(void *); i < size; ++i)
                CHECK(((char *)object)[i] == 0, "%s: byte %zu of %zu is not zero", what, i, size);
    }
    CHECK(length >= 1, "%s: no object of %zu bytes", what, size);
    return length;
}

/* Each is filled with its own number; a block that overlaps another destroys that one's. */
static void check_apart(size_t size, const char *what) {
    unsigned char n = 0;
    for (void *object = held; object != NULL; object = GC_NEXT(object))
        memset((char *)object + sizeof(void *), ++n, size - sizeof(void *));
    n = 0;
    for (void *object = held; object != NULL; object = GC_NEXT(object)) {
        ++n;
        for (size_t i = sizeof(void *); i < size; ++i)
            CHECK(((unsigned char *)object)[i] == n, "%s: objects of %zu bytes overlap", what, size);
    }
}

static void check_generic(size_t size, int kind) {
    char what[60];
    void *list = &list;
    snprintf(what, sizeof what, "GC_generic_malloc_many(%zu, %d)", size, kind);
    GC_generic_malloc_many(size, kind, &list);
    held = list;
    check_chain(size, kind == GC_I_NORMAL, what);
    check_apart(size, what);
    held = list = NULL;
}

static struct watched last;
NOINLINE static int take_chain(void) {
    held = GC_malloc_many(32);
    void *at = held;
    int length = 1;
    for (; GC_NEXT(at) != NULL; at = GC_NEXT(at)) ++length;
    CHECK(GC_general_register_disappearing_link(&last.link, at) == GC_SUCCESS, "no link");
    last.link = (void *)GC_HIDE_POINTER(at);
    return length;
}

static void *lists[GC_TINY_FREELISTS];
static void *atomic_lists[GC_TINY_FREELISTS];

/* A list of kind 0 is kept by nothing. */
static void drop_atomic_lists(void) { memset(atomic_lists, 0, sizeof atomic_lists); }

static void check_inline(void) {
    static void **head;
    for (int i = 0; i < 3000; ++i) {
        size_t granules = 1 + (size_t)i % (GC_TINY_FREELISTS + 3);
        void **object, *plain;
        GC_FAST_MALLOC_GRANS(object, granules, lists, 0, GC_I_NORMAL, GC_malloc_kind(16 * granules, GC_I_NORMAL),
                             *object = NULL);
        CHECK(object != NULL, "GC_FAST_MALLOC_GRANS(%zu) gave NULL", granules);
        for (size_t w = 0; w < 2 * granules; ++w)
            CHECK(object[w] == NULL, "GC_FAST_MALLOC_GRANS(%zu): word %zu is not zero", granules, w);
        GC_FAST_MALLOC_GRANS(plain, granules, atomic_lists, 0, GC_I_PTRFREE,
                             GC_malloc_kind(16 * granules, GC_I_PTRFREE), (void)0);
        memset(plain, 0xdd, 16 * granules);
        object[0] = head;
        object[1] = (void *)(uintptr_t)(2 * i + 1);
        head = object;
        if (i % 500 == 499) {
            scrub();
            GC_gcollect();
        }
    }
    int left = 3000;
    for (void **at = head; at != NULL; at = at[0]) {
        --left;
        CHECK(at[1] == (void *)(uintptr_t)(2 * left + 1), "an object of the inline allocation was changed");
    }
    CHECK(left == 0, "%d objects of the inline allocation are missing", left);

    void **pair;
    GC_CONS(pair, head, lists, lists);
    CHECK(pair[0] == (void *)head && pair[1] == (void *)lists, "GC_CONS");
}

int main(void) {
    GC_INIT();
    static const size_t sizes[] = {8, 16, 24, 100, 384, 1000, 2000, 4000, 10000, 100000};
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        for (int round = 0; round < 3; ++round) {
            held = GC_malloc_many(sizes[i]);
            check_chain(sizes[i], 1, "GC_malloc_many");
            check_apart(sizes[i], "GC_malloc_many");
        }
    }
    for (size_t size = 16; size <= 384; size += 16) {
        check_generic(size, GC_I_NORMAL);
        check_generic(size, GC_I_PTRFREE);
    }
    int length = take_chain();
    collect();
    expect_kept(&last, 1, "the end of a chain that is held");
    int after = check_chain(32, 1, "a chain after a collection");
    CHECK(after == length, "a chain of %d objects has %d after a collection", length, after);
    GC_set_start_callback(drop_atomic_lists);
    check_inline();
    return 0;
}
