/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: disappearing links, short and long: registering, moving, taking back; when they are cleared.
 * Invariant: a link to a live object stays; a short one goes before its finalizer runs, a long one when nothing can
 *    reach the object any more.
 * Must not know: how links are stored.
 */
#include <gc.h>

#include "watched.h"

typedef int register_link(void **, const void *);
typedef int move_link(void **, void **);
typedef int unregister_link(void **);

static void *volatile held[kPlaces];
static void *links[kPlaces], *moved[kPlaces];

NOINLINE static void make(register_link *add, void *to_set[]) {
    for (int i = 0; i < kPlaces; ++i) {
        held[i] = GC_malloc(48);
        memset(held[i], 0x5a, 48);
        to_set[i] = (void *)GC_HIDE_POINTER(held[i]);
        CHECK(add(&to_set[i], held[i]) == GC_SUCCESS, "no link");
    }
}
NOINLINE static int hidden_alike(void *const set[]) {
    for (int i = 0; i < kPlaces; ++i)
        if (set[i] != (void *)GC_HIDE_POINTER(held[i])) return 0;
    return 1;
}
static int cleared(void *const set[]) {
    int n = 0;
    for (int i = 0; i < kPlaces; ++i) n += ((void *const volatile *)set)[i] == NULL;
    return n;
}

static void check(register_link *add, move_link *move, unregister_link *take, const char *what) {
    memset(links, 0, sizeof links);
    memset(moved, 0, sizeof moved);
    make(add, links);
    CHECK(add(&links[0], held[0]) == GC_DUPLICATE, "%s: a second registration is no duplicate", what);
    collect();
    CHECK(hidden_alike(links), "%s: a link to a live object changed", what);

    /* Moving takes the registration along, not the contents. */
    CHECK(move(&moved[5], &links[5]) == GC_NOT_FOUND, "%s: what is not registered was moved", what);
    CHECK(move(&links[0], &links[1]) == GC_DUPLICATE, "%s: moved onto another link", what);
    CHECK(move(&links[0], &links[0]) == GC_SUCCESS, "%s: moving a link onto itself", what);
    for (int i = 0; i < kPlaces; ++i) {
        CHECK(move(&links[i], &moved[i]) == GC_SUCCESS, "%s: a link was not moved", what);
        CHECK(moved[i] == NULL && links[i] != NULL, "%s: moving changed contents", what);
        CHECK(move(&links[i], &moved[i]) == GC_NOT_FOUND, "%s: a link was moved away twice", what);
        moved[i] = links[i];
    }
    wipe(held, kPlaces);
    collect();
    CHECK(cleared(links) == 0, "%s: a link was cleared where it was before it was moved", what);
    CHECK(2 * cleared(moved) >= kPlaces, "%s: only %d of %d links were cleared", what, cleared(moved), (int)kPlaces);
    for (int i = 0; i < kPlaces; ++i) {
        int expected = moved[i] != NULL;
        CHECK(take(&moved[i]) == expected, "%s: a cleared link is registered, or the other way", what);
        CHECK(take(&moved[i]) == 0, "%s: a link was taken back twice", what);
        CHECK(take(&links[i]) == 0, "%s: a link is still registered where it was", what);
    }

    /* Taken back, it stays whatever happens. */
    make(add, links);
    for (int i = 0; i < kPlaces; ++i) CHECK(take(&links[i]) == 1, "%s: a link is not registered", what);
    wipe(held, kPlaces);
    collect();
    CHECK(cleared(links) == 0, "%s: a link that was taken back was cleared", what);

    /* Registered again for another object, it follows that one. */
    static void *volatile other;
    other = GC_malloc(16);
    make(add, links);
    for (int i = 0; i < kPlaces; ++i)
        CHECK(add(&links[i], other) == GC_DUPLICATE, "%s: a second object for a link is no duplicate", what);
    wipe(held, kPlaces);
    collect();
    CHECK(cleared(links) == 0, "%s: a link was cleared for an object it no longer belongs to", what);
    for (int i = 0; i < kPlaces; ++i) CHECK(take(&links[i]) == 1, "%s: a link is not registered at last", what);
    other = NULL;
}

/* A link need not hold the address, and may lie in an object; the old form takes that one. */
static void *volatile keepers[kPlaces];
NOINLINE static void make_inside(void) {
    for (int i = 0; i < kPlaces; ++i) {
        void **keeper = GC_malloc_atomic(32), *target = GC_malloc(32);
        keepers[i] = keeper;
        held[i] = target;
        keeper[0] = target; /* pointer-free, so this does not count */
        keeper[1] = (void *)1;
        CHECK(GC_general_register_disappearing_link(&keeper[0], target) == GC_SUCCESS, "no link in an object");
        CHECK(GC_register_disappearing_link(&keeper[1]) == GC_SUCCESS, "no link to its own object");
    }
}

static void check_inside(void) {
    make_inside();
    collect();
    for (int i = 0; i < kPlaces; ++i)
        CHECK(((void **)keepers[i])[0] == held[i], "a link in an object to a live object changed");
    wipe(held, kPlaces);
    collect();
    int gone = 0;
    for (int i = 0; i < kPlaces; ++i) {
        void **keeper = keepers[i];
        gone += keeper[0] == NULL;
        CHECK(keeper[1] == (void *)1, "a link to its own object, which lives, was cleared");
    }
    CHECK(2 * gone >= kPlaces, "only %d of %d links in objects were cleared", gone, (int)kPlaces);
    wipe(keepers, kPlaces);
    collect(); /* links in objects that die are forgotten */
    for (int i = 0; i < 20000; ++i) memset(GC_malloc_atomic(32), 0xa5, 32);
    for (int i = 0; i < 2000; ++i) {
        unsigned char *object = GC_malloc_atomic(32);
        memset(object, 0xa5, 32);
        held[i % kPlaces] = object;
        if (i % 500 == 0) GC_gcollect();
        for (int j = 0; j < kPlaces && j <= i; ++j)
            for (int k = 0; k < 32; ++k)
                CHECK(((unsigned char *)held[j])[k] == 0xa5, "a forgotten link was written to");
    }
    wipe(held, kPlaces);
}

/* Both kinds on an object that its finalizer revives. */
static void *short_links[kPlaces], *long_links[kPlaces];
static int finalized, short_seen, long_missing;
static void *volatile saved[kPlaces];
static void revive(void *object, void *cd) {
    int i = (int)(intptr_t)cd;
    ++finalized;
    short_seen += short_links[i] != NULL;
    long_missing += long_links[i] == NULL;
    saved[i] = object;
}
NOINLINE static void make_revivable(void) {
    for (int i = 0; i < kPlaces; ++i) {
        void *object = GC_malloc(64);
        short_links[i] = long_links[i] = (void *)GC_HIDE_POINTER(object);
        CHECK(GC_general_register_disappearing_link(&short_links[i], object) == GC_SUCCESS, "no short link");
        CHECK(GC_register_long_link(&long_links[i], object) == GC_SUCCESS, "no long link beside a short one");
        GC_register_finalizer_no_order(object, revive, (void *)(intptr_t)i, NULL, NULL);
    }
}

static void check_revived(void) {
    make_revivable();
    collect();
    CHECK(2 * finalized >= kPlaces, "only %d of %d were finalized", finalized, (int)kPlaces);
    CHECK(short_seen == 0, "%d finalizers saw their object's short link", short_seen);
    CHECK(long_missing == 0, "%d finalizers did not see their object's long link", long_missing);
    collect();
    for (int i = 0; i < kPlaces; ++i)
        CHECK(saved[i] == NULL || long_links[i] != NULL, "a long link to a revived object was cleared");
    wipe(saved, kPlaces);
    collect();
    CHECK(2 * cleared(long_links) >= kPlaces, "only %d of %d long links were cleared", cleared(long_links),
          (int)kPlaces);
}

static void check_many(void) {
    enum { kMany = 20000 };
    static void *many[kMany], *volatile objects[kMany];
    for (int i = 0; i < kMany; ++i) {
        objects[i] = GC_malloc(16);
        many[i] = (void *)GC_HIDE_POINTER(objects[i]);
        CHECK(GC_general_register_disappearing_link(&many[i], objects[i]) == GC_SUCCESS, "no link %d", i);
    }
    for (int i = 0; i < kMany; i += 2) objects[i] = NULL;
    collect();
    int gone = 0;
    for (int i = 0; i < kMany; ++i) {
        gone += many[i] == NULL;
        CHECK(i % 2 == 0 || many[i] == (void *)GC_HIDE_POINTER(objects[i]), "link %d to a live object changed", i);
    }
    CHECK(4 * gone >= kMany, "only %d of %d links were cleared", gone, kMany / 2);
    for (int i = 0; i < kMany; ++i)
        CHECK(GC_unregister_disappearing_link(&many[i]) == (many[i] != NULL), "link %d is lost", i);
}

int main(void) {
    GC_INIT();
    check(GC_general_register_disappearing_link, GC_move_disappearing_link, GC_unregister_disappearing_link, "short");
    check(GC_register_long_link, GC_move_long_link, GC_unregister_long_link, "long");
    check_inside();
    check_revived();
    check_many();
    return 0;
}
