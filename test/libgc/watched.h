/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: objects whose life is watched without keeping them, and places that are to keep them.
 * Invariant: an object's address stands nowhere here but as its complement.
 * Must not know: how a collector finds its roots.
 */
#ifndef LIBGC_WATCHED_H
#define LIBGC_WATCHED_H

#include "check.h"
#include "helper.h"

struct watched {
    void *link; /* the complement of the address; the collector clears it when the object has died */
    size_t size;
    uint64_t seed;
};

/* No address: the topmost bits are ones. */
UNUSED static GC_word pattern(uint64_t seed, size_t word) {
    return mixed(seed * 4099 + word) | (GC_word)0xfff0000000000000u;
}

NOINLINE static void watch(struct watched *w, void *object, size_t size, uint64_t seed) {
    w->size = size / sizeof(GC_word) * sizeof(GC_word);
    w->seed = seed;
    for (size_t i = 0; i < w->size / sizeof(GC_word); ++i) ((GC_word *)object)[i] = pattern(seed, i);
    w->link = (void *)GC_HIDE_POINTER(object);
    CHECK(GC_general_register_disappearing_link(&w->link, object) == GC_SUCCESS, "a weak link was not registered");
}

NOINLINE static void *watch_new(struct watched *w, size_t size, uint64_t seed) {
    void *object = GC_malloc(size);
    CHECK(object != NULL, "GC_malloc(%zu) gave NULL", size);
    watch(w, object, size, seed);
    return object;
}

NOINLINE static int is_alive(const struct watched *w) { return *(void *const volatile *)&w->link != NULL; }

NOINLINE static int is_intact(const struct watched *w) {
    if (!is_alive(w)) return 0;
    const GC_word *words = (const GC_word *)GC_REVEAL_POINTER(w->link);
    for (size_t i = 0; i < w->size / sizeof(GC_word); ++i)
        if (words[i] != pattern(w->seed, i)) return 0;
    return 1;
}

/* Objects of 64 bytes into places that no compiler may keep in registers, and out again. */
NOINLINE static void fill(void *volatile *to, struct watched *w, int n) {
    for (int i = 0; i < n; ++i) to[i] = watch_new(&w[i], 64, (uint64_t)i);
}

NOINLINE static void wipe(void *volatile *places, int n) {
    for (int i = 0; i < n; ++i) places[i] = NULL;
    scrub();
}

UNUSED static int count_alive(const struct watched *w, int n) {
    int alive = 0;
    for (int i = 0; i < n; ++i) alive += is_alive(&w[i]);
    return alive;
}

UNUSED static int count_intact(const struct watched *w, int n) {
    int intact = 0;
    for (int i = 0; i < n; ++i) intact += is_intact(&w[i]);
    return intact;
}

UNUSED static void forget(struct watched *w, int n) {
    for (int i = 0; i < n; ++i) {
        GC_unregister_disappearing_link(&w[i].link);
        w[i].link = NULL;
    }
}

/* Garbage of the same sizes, so that what was freed wrongly is overwritten. */
NOINLINE static void churn(void) {
    for (int i = 0; i < 2000; ++i) {
        size_t size = 16u * (1 + (unsigned)i % 24);
        memset(GC_malloc(size), 0xee, size);
    }
    scrub();
}

NOINLINE static void collect(void) {
    scrub();
    GC_gcollect();
    GC_gcollect();
    churn();
}

UNUSED static void expect_kept(const struct watched *w, int n, const char *where) {
    int intact = count_intact(w, n);
    scrub();
    CHECK(intact == n, "%s: %d of %d objects were lost or changed", where, n - intact, n);
}

/* A conservative collector may keep some of the dead; a test that could not see any die would prove nothing. */
UNUSED static void expect_half_dead(const struct watched *w, int n, const char *where) {
    int dead = n - count_alive(w, n);
    CHECK(2 * dead >= n, "%s: only %d of %d unreachable objects were collected", where, dead, n);
}

enum { kPlaces = 32 };

/* Somewhere to keep pointers; in a thread if one is named, else in the caller's. */
struct place {
    const char *what;
    void (*put)(int i, void *object);
    void (*clear)(int i);
    struct helper *in;
    int first, count; /* which i: 0 to kPlaces - 1 unless said */
};

struct place_task {
    const struct place *place;
    struct watched *watched;
    int count, clear;
};

NOINLINE static void do_place_task(void *argument) {
    struct place_task *task = (struct place_task *)argument;
    for (int i = 0; i < task->count; ++i) {
        if (task->clear)
            task->place->clear(task->place->first + i);
        else
            task->place->put(task->place->first + i,
                             watch_new(&task->watched[i], 16u * (1 + (unsigned)i % 20), (uint64_t)i));
    }
    scrub();
}

/* What is put there is kept and stays as it is; what is taken away goes. */
NOINLINE static void check_place(const struct place *place) {
    static struct watched watched[kPlaces];
    struct place_task task = {place, watched, place->count != 0 ? place->count : kPlaces, 0};
    for (task.clear = 0; task.clear < 2; ++task.clear) {
        if (place->in != NULL)
            helper_do(place->in, do_place_task, &task);
        else
            do_place_task(&task);
        collect();
        if (task.clear)
            expect_half_dead(watched, task.count, place->what);
        else
            expect_kept(watched, task.count, place->what);
    }
    forget(watched, task.count);
}

#endif
