/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: ephemerons and tables with weak keys, as programs use them: alone, with finalizers, threads and fork.
 * Invariant: what can be reached by the rule is kept; at least half of the rest dies.
 * Must not know: where the collector keeps what an ephemeron joins.
 */
#include <errno.h>
#include <gc.h>
#include <pthread.h>

#include "granary/gc.h"
#include "watched.h"

enum { kMany = 200, kThreads = 4, kRounds = 300 };

static void *volatile *roots; /* in the collector's own memory, where nothing is left of what was there before */
static struct watched keys[kMany], values[kMany];
static gr_gc_ephemeron *volatile *pairs;

NOINLINE static void *address(const struct watched *w) { return (void *)GC_REVEAL_POINTER(w->link); }

/* Values that refer to their keys. The keys are kept, and so are the ephemerons. */
NOINLINE static void make_pairs(void) {
    for (int i = 0; i < kMany; ++i) {
        roots[i] = watch_new(&keys[i], 48, (uint64_t)i);
        void **value = watch_new(&values[i], 64, (uint64_t)i + kMany);
        pairs[i] = gr_gc_ephemeron_new(roots[i], value);
        CHECK(pairs[i] != NULL, "no ephemeron");
        CHECK(gr_gc_ephemeron_key(pairs[i]) == roots[i] && gr_gc_ephemeron_value(pairs[i]) == value, "another pair");
    }
    scrub();
}

NOINLINE static void refer_to_keys(void) {
    for (int i = 0; i < kMany; ++i) {
        void **value = address(&values[i]);
        value[1] = roots[i];
    }
    scrub();
}

NOINLINE static void expect_pairs(void) {
    int cleared = 0;
    for (int i = 0; i < kMany; ++i) {
        void *key = gr_gc_ephemeron_key(pairs[i]), *value = gr_gc_ephemeron_value(pairs[i]);
        CHECK((key == NULL) == (value == NULL), "ephemeron %d is cleared by half", i);
        CHECK((key == NULL) == !is_alive(&keys[i]), "the key of ephemeron %d and its weak link differ", i);
        cleared += key == NULL;
    }
    scrub();
    CHECK(2 * cleared >= kMany, "only %d of %d ephemerons were cleared", cleared, kMany);
}

static void check_pairs(void) {
    make_pairs();
    collect();
    expect_kept(keys, kMany, "a key");
    expect_kept(values, kMany, "the value of a live key");
    refer_to_keys();
    collect();
    for (int i = 0; i < kMany; ++i) CHECK(is_alive(&values[i]), "the value of a live key was lost");
    wipe((void *volatile *)roots, kMany);
    collect();
    expect_half_dead(keys, kMany, "a key to which only its own value refers");
    expect_half_dead(values, kMany, "the value of a dead key");
    expect_pairs();
    wipe((void *volatile *)pairs, kMany);
    collect();
    gr_gc_statistics statistics = {.size = sizeof statistics};
    CHECK(gr_gc_statistics_get(&statistics) == 0 && statistics.version >= 2, "no statistics");
    CHECK(2 * statistics.ephemerons <= kMany, "%lu ephemerons are still known", (unsigned long)statistics.ephemerons);
    forget(keys, kMany);
    forget(values, kMany);
}

/* An ephemeron that is let go keeps nothing, though its key lives. */
NOINLINE static void let_values_go(void) {
    for (int i = 0; i < kMany; ++i) pairs[i] = NULL;
    scrub();
}

static void check_dropped(void) {
    make_pairs();
    let_values_go();
    collect();
    expect_kept(keys, kMany, "a key");
    expect_half_dead(values, kMany, "the value of a dropped ephemeron");
    wipe((void *volatile *)roots, kMany);
    forget(keys, kMany);
    forget(values, kMany);
}

/* The value of each is the key of the next: all are reached from the first, and then none. */
NOINLINE static void make_chain(void) {
    void *key = watch_new(&keys[0], 32, 0);
    roots[0] = key;
    for (int i = 1; i < kMany; ++i) {
        void *next = watch_new(&keys[i], 32, (uint64_t)i);
        pairs[kMany - i] = gr_gc_ephemeron_new(key, next);
        key = next;
    }
    scrub();
}

static void check_chain(void) {
    make_chain();
    collect();
    expect_kept(keys, kMany, "a chain of ephemerons");
    wipe((void *volatile *)roots, 1);
    collect();
    expect_half_dead(keys, kMany, "a chain of ephemerons from nowhere");
    forget(keys, kMany);
    wipe((void *volatile *)pairs, kMany);
}

static int finalized, found_cleared;
static void finalize(void *object, void *data) {
    (void)object;
    ++finalized;
    found_cleared += gr_gc_ephemeron_key(data) == NULL;
}

NOINLINE static void make_finalizable(void) {
    for (int i = 0; i < kMany; ++i) {
        void *key = gr_gc_malloc(32);
        pairs[i] = gr_gc_ephemeron_new(key, gr_gc_malloc(32));
        CHECK(gr_gc_on_collect(key, finalize, pairs[i]) == 0, "no finalizer");
    }
    scrub();
}

static void check_finalizers(void) {
    make_finalizable();
    collect();
    collect();
    CHECK(2 * finalized >= kMany, "only %d of %d keys were finalized", finalized, kMany);
    CHECK(found_cleared == finalized, "%d finalizers found their key in an ephemeron", finalized - found_cleared);
    wipe((void *volatile *)pairs, kMany);
}

static gr_gc_weak_table *volatile table;

NOINLINE static void fill_table(int first, int end) {
    for (int i = first; i < end; ++i) {
        roots[i] = watch_new(&keys[i], 48, (uint64_t)i);
        void **value = watch_new(&values[i], 64, (uint64_t)i + kMany);
        CHECK(gr_gc_weak_table_set(table, roots[i], value) == 0, "no entry");
        CHECK(gr_gc_weak_table_get(table, roots[i]) == value, "another value");
    }
    scrub();
}

NOINLINE static void expect_entries(void) {
    for (int i = 0; i < kMany; ++i)
        if (roots[i] != NULL)
            CHECK(gr_gc_weak_table_get(table, roots[i]) == address(&values[i]), "entry %d is lost", i);
    scrub();
}

static void check_table(void) {
    table = gr_gc_weak_table_new();
    CHECK(table != NULL, "no table");
    fill_table(0, kMany);
    refer_to_keys();
    collect();
    for (int i = 0; i < kMany; ++i) CHECK(is_alive(&values[i]), "a value of a table was lost");
    expect_entries();
    CHECK(gr_gc_weak_table_count(table) == kMany, "%zu entries", gr_gc_weak_table_count(table));
    static int other;
    CHECK(gr_gc_weak_table_set(table, roots[0], &other) == 0 && gr_gc_weak_table_get(table, roots[0]) == &other &&
              gr_gc_weak_table_count(table) == kMany,
          "an entry was not replaced");
    CHECK(gr_gc_weak_table_remove(table, roots[0]) == 1 && gr_gc_weak_table_remove(table, roots[0]) == 0 &&
              gr_gc_weak_table_get(table, roots[0]) == NULL && gr_gc_weak_table_count(table) == kMany - 1,
          "an entry was not removed");
    roots[0] = NULL;
    wipe((void *volatile *)roots, kMany / 2);
    collect();
    expect_half_dead(keys, kMany / 2, "a key of a table");
    expect_half_dead(values, kMany / 2, "a value of a table whose key died");
    expect_entries();
    size_t left = gr_gc_weak_table_count(table);
    CHECK(left >= kMany / 2 && left <= kMany / 2 + kMany / 4, "%zu of %d entries are left", left, kMany / 2);
    forget(keys, kMany / 2);
    forget(values, kMany / 2);
    fill_table(0, kMany / 2); /* often at the addresses of dead keys */
    expect_entries();
    wipe((void *volatile *)roots, kMany);
    table = NULL;
    scrub();
    collect();
    expect_half_dead(values, kMany, "a value of a table that died");
    forget(keys, kMany);
    forget(values, kMany);
}

/* Each thread has keys of its own in one table, and collects. */
static void *use_table(void *argument) {
    long me = (long)argument;
    void *volatile own[16] = {NULL};
    for (int round = 0; round < kRounds; ++round) {
        long i = round % 16;
        own[i] = gr_gc_malloc(32 + 16 * (size_t)me);
        long *value = gr_gc_malloc(2 * sizeof *value);
        value[0] = me;
        value[1] = i;
        CHECK(gr_gc_weak_table_set(table, own[i], value) == 0, "no entry");
        for (long k = 0; k < 16 && k <= round; ++k) {
            const long *found = gr_gc_weak_table_get(table, own[k]);
            CHECK(found != NULL && found[0] == me && found[1] == k, "thread %ld finds another value", me);
        }
        if (round % 64 == 63) gr_gc_collect();
    }
    return NULL;
}

static void check_threads(void) {
    pthread_t threads[kThreads];
    table = gr_gc_weak_table_new();
    for (long i = 0; i < kThreads; ++i)
        CHECK(pthread_create(&threads[i], NULL, use_table, (void *)i) == 0, "no thread");
    for (int i = 0; i < kThreads; ++i) CHECK(pthread_join(threads[i], NULL) == 0, "pthread_join failed");
    collect();
    size_t left = gr_gc_weak_table_count(table);
    CHECK(2 * left <= kThreads * kRounds, "%zu of %d entries are left", left, kThreads * kRounds);
    table = NULL;
}

static void check_in_child(void) {
    collect();
    expect_kept(values, kMany, "a value in the child");
    wipe((void *volatile *)roots, kMany);
    collect();
    expect_half_dead(values, kMany, "a value of a dead key in the child");
}

static void check_fork(void) {
    make_pairs();
    run_apart("the child of a fork", check_in_child);
    collect();
    expect_kept(values, kMany, "a value after fork");
    wipe((void *volatile *)roots, kMany);
    forget(keys, kMany);
    forget(values, kMany);
}

static void check_arguments(void) {
    static int variable;
    errno = 0;
    CHECK(gr_gc_ephemeron_new(&variable, NULL) == NULL && errno == EINVAL, "a key that is no object");
    errno = 0;
    CHECK(gr_gc_ephemeron_new(NULL, NULL) == NULL && errno == EINVAL, "a key of NULL");
    char *key = gr_gc_malloc(32);
    CHECK(gr_gc_ephemeron_new(key + 8, NULL) == NULL, "a key within an object");
    gr_gc_ephemeron *pair = gr_gc_ephemeron_new(key, &variable);
    CHECK(pair != NULL && gr_gc_ephemeron_key(pair) == key && gr_gc_ephemeron_value(pair) == &variable, "a variable");
    gr_gc_ephemeron_clear(pair);
    CHECK(gr_gc_ephemeron_key(pair) == NULL && gr_gc_ephemeron_value(pair) == NULL, "is not cleared");
    gr_gc_ephemeron_clear(pair);
    table = gr_gc_weak_table_new();
    errno = 0;
    CHECK(gr_gc_weak_table_set(table, &variable, NULL) == -1 && errno == EINVAL, "a key of a table that is no object");
    CHECK(gr_gc_weak_table_get(table, &variable) == NULL && gr_gc_weak_table_get(table, NULL) == NULL, "an entry");
    CHECK(gr_gc_weak_table_count(table) == 0, "entries");
}

int main(void) {
    CHECK(gr_gc_init() == 0, "gr_gc_init");
    roots = gr_gc_malloc_uncollectable(kMany * sizeof *roots);
    pairs = gr_gc_malloc_uncollectable(kMany * sizeof *pairs);
    check_arguments();
    check_pairs();
    check_dropped();
    check_chain();
    check_finalizers();
    check_table();
    check_threads();
    check_fork();
    return 0;
}
