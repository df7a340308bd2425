/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: what keeps from inside the heap: scanned objects, uncollectable ones, long chains; pointer-free ones do
 *    not.
 * Invariant: the place named is the only one that keeps the objects; cleared, it keeps them no more.
 * Must not know: kinds by their numbers.
 */
#include <gc.h>

#include "watched.h"

static void **object;                  /* GC_malloc */
static uintptr_t hidden_uncollectable; /* so that it is no root that keeps it */
static void **atomic, **uncollectable_atomic;

static void put_in_object(int i, void *p) { object[i] = p; }
static void clear_in_object(int i) { object[i] = NULL; }
static void put_in_uncollectable(int i, void *p) { ((void **)~hidden_uncollectable)[i] = p; }
static void clear_in_uncollectable(int i) { put_in_uncollectable(i, NULL); }

/* A list of many thousand: a marker that recurses would overflow its stack. */
static void check_chain(int length) {
    static void *head;
    static struct watched last;
    void **node = NULL;
    for (int i = 0; i < length; ++i) {
        void **next = GC_malloc(16);
        if (i == 0) watch(&last, next, 16, 1);
        if (i != 0) {
            next[0] = node;
            next[1] = (void *)(uintptr_t)(i | 1);
        }
        node = next;
        head = node;
    }
    node = NULL;
    collect();
    expect_kept(&last, 1, "the end of a long list");
    int seen = 0;
    for (void **at = head; seen < length - 1; at = at[0]) {
        CHECK(at[1] == (void *)(uintptr_t)((length - 1 - seen) | 1), "node %d of a long list changed", seen);
        ++seen;
    }
    head = NULL;
    forget(&last, 1);
}

/* Pointers in pointer-free objects do not count. */
static void check_atomic(void **object_without_pointers, const char *what) {
    static struct watched watched[kPlaces];
    for (int i = 0; i < kPlaces; ++i) object_without_pointers[i] = watch_new(&watched[i], 48, (uint64_t)i);
    collect();
    expect_half_dead(watched, kPlaces, what);
    forget(watched, kPlaces);
}

NOINLINE static void make(void) {
    object = GC_malloc(kPlaces * sizeof(void *));
    hidden_uncollectable = ~(uintptr_t)GC_malloc_uncollectable(kPlaces * sizeof(void *));
    atomic = GC_malloc_atomic(kPlaces * sizeof(void *));
    uncollectable_atomic = GC_malloc_atomic_uncollectable(kPlaces * sizeof(void *));
}

int main(void) {
    GC_INIT();
    make();
    check_place(&(struct place){.what = "in an object", .put = put_in_object, .clear = clear_in_object});
    check_place(&(struct place){
        .what = "in an uncollectable object", .put = put_in_uncollectable, .clear = clear_in_uncollectable});
    check_atomic(atomic, "in a pointer-free object");
    check_atomic(uncollectable_atomic, "in a pointer-free uncollectable object");
    check_chain(200000);
    return 0;
}
