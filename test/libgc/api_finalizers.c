/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: finalizers in each order, their registration, what they keep, reviving, and running all.
 * Invariant: a finalizer runs once, after its order allows it, and sees its object whole.
 * Must not know: how they are stored.
 */
#include <gc.h>
#include <gc/javaxfc.h>

#include "watched.h"

typedef void register_finalizer(void *, GC_finalization_proc, void *, GC_finalization_proc *, void **);

/* Two words and a pattern. `to` points to another object, or is NULL. */
struct object {
    struct object *to;
    GC_word number, check;
};

enum { kPairs = 32 };
static int first_ran[kPairs], second_ran[kPairs], wrong;
static struct object *volatile revived[kPairs];
static int revive;

NOINLINE static struct object *make(GC_word number, struct object *to) {
    struct object *object = GC_malloc(sizeof *object);
    object->to = to;
    object->number = number;
    object->check = pattern(number, 0);
    return object;
}

static void note(struct object *object, int *ran, void *cd) {
    if (object->check != pattern(object->number, 0) || cd != &ran[object->number]) ++wrong;
    if (object->to != NULL && object->to->check != pattern(object->to->number, 0)) ++wrong;
    ++ran[object->number];
    if (revive && ran == first_ran) revived[object->number] = object;
}
static void finalize_first(void *object, void *cd) { note(object, first_ran, cd); }
static void finalize_second(void *object, void *cd) { note(object, second_ran, cd); }

static int sum(const int *counts) {
    int n = 0;
    for (int i = 0; i < kPairs; ++i) n += counts[i];
    return n;
}

static void reset(void) {
    GC_finalize_all();
    memset(first_ran, 0, sizeof first_ran);
    memset(second_ran, 0, sizeof second_ran);
    wrong = 0;
}

/* The first refers to the second, both have finalizers. */
NOINLINE static void make_pairs(register_finalizer *first, register_finalizer *second) {
    reset();
    for (GC_word i = 0; i < kPairs; ++i) {
        struct object *b = make(i, NULL), *a = make(i, b);
        first(a, finalize_first, &first_ran[i], NULL, NULL);
        second(b, finalize_second, &second_ran[i], NULL, NULL);
    }
}

static void finalize_once(void) {
    scrub();
    GC_gcollect();
    while (GC_invoke_finalizers() != 0) continue;
    CHECK(wrong == 0, "%d finalizers saw a wrong object", wrong);
}

static void expect_most(const int *ran, const char *what) {
    int n = sum(ran);
    CHECK(2 * n >= kPairs, "%s: only %d of %d finalizers ran", what, n, (int)kPairs);
    for (int i = 0; i < kPairs; ++i) CHECK(ran[i] <= 1, "%s: a finalizer ran %d times", what, ran[i]);
}

static void check_ordered(register_finalizer *order, const char *what) {
    make_pairs(order, order);
    for (int round = 0; round < 4; ++round) {
        int before[kPairs];
        memcpy(before, first_ran, sizeof before);
        finalize_once();
        if (round == 0) expect_most(first_ran, what);
        /* Of one collection only those whose first one had been finalized before it. */
        for (int i = 0; i < kPairs; ++i)
            CHECK(second_ran[i] == 0 || before[i] != 0,
                  "%s: an object was finalized while another that was to be reached it", what);
    }
    expect_most(second_ran, what);
}

static void check_unordered(void) {
    make_pairs(GC_register_finalizer_no_order, GC_register_finalizer_no_order);
    finalize_once();
    expect_most(first_ran, "no order");
    for (int i = 0; i < kPairs; ++i)
        CHECK(second_ran[i] == first_ran[i], "no order: one of two that died together was left");
}

/* `unreachable` waits for an object without order that reaches it; a plain ordered one would not. */
static void check_unreachable(void) {
    make_pairs(GC_register_finalizer_no_order, GC_register_finalizer_unreachable);
    int before[kPairs] = {0};
    for (int round = 0; round < 4; ++round) {
        finalize_once();
        for (int i = 0; i < kPairs; ++i)
            CHECK(second_ran[i] == 0 || before[i] != 0,
                  "unreachable: finalized while an object without order reached it");
        memcpy(before, first_ran, sizeof before);
    }
    expect_most(second_ran, "unreachable");
}

static int warnings;
static void warn(char *format, GC_word word) {
    (void)word;
    CHECK(strncmp(format, "GC Warning: ", 12) == 0, "a warning begins otherwise: %s", format);
    ++warnings;
}

NOINLINE static void make_selves(register_finalizer *order) {
    reset();
    for (GC_word i = 0; i < kPairs; ++i) {
        struct object *a = make(i, NULL);
        a->to = a;
        order(a, finalize_first, &first_ran[i], NULL, NULL);
    }
}

static void check_cycles(void) {
    GC_warn_proc before = GC_get_warn_proc();
    GC_set_warn_proc(warn);
    make_selves(GC_register_finalizer);
    finalize_once();
    finalize_once();
    CHECK(sum(first_ran) == 0, "%d objects in a cycle were finalized", sum(first_ran));
    CHECK(warnings != 0, "no warning of a cycle");
    GC_set_warn_proc(before);
    make_selves(GC_register_finalizer_ignore_self);
    finalize_once();
    expect_most(first_ran, "ignore self");
    make_selves(GC_register_finalizer_no_order);
    finalize_once();
    expect_most(first_ran, "no order, with itself");
    reset();
}

static void *volatile held[kPairs];

static void check_registration(void) {
    GC_finalization_proc old = finalize_second;
    void *old_cd = &old;
    struct object *a = make(0, NULL);
    held[0] = a;
    GC_register_finalizer(a, finalize_first, &first_ran[0], &old, &old_cd);
    CHECK(old == NULL && old_cd == NULL, "an object without finalizer had one");
    GC_register_finalizer_no_order(a, finalize_second, &second_ran[0], &old, &old_cd);
    CHECK(old == finalize_first && old_cd == &first_ran[0], "the old finalizer is another one");
    GC_register_finalizer(a, NULL, NULL, &old, &old_cd);
    CHECK(old == finalize_second && old_cd == &second_ran[0], "the old finalizer is another one when it is removed");
    GC_register_finalizer(a, NULL, NULL, &old, &old_cd);
    CHECK(old == NULL, "a removed finalizer is still there");
    int local;
    old = finalize_first;
    old_cd = &local;
    GC_register_finalizer(&local, finalize_first, &local, &old, &old_cd);
    CHECK(old == NULL && old_cd == NULL, "what is not in the heap had a finalizer");
    held[0] = NULL;
}

/* Reachable objects are not finalized, and their client data is kept. */
static struct watched data[kPairs];
NOINLINE static void make_with_data(void) {
    for (int i = 0; i < kPairs; ++i) {
        held[i] = make((GC_word)i, NULL);
        GC_register_finalizer_no_order(held[i], finalize_first, watch_new(&data[i], 32, (uint64_t)i), NULL, NULL);
    }
}

static void check_data(void) {
    reset();
    make_with_data();
    collect();
    expect_kept(data, kPairs, "client data of a finalizer");
    CHECK(sum(first_ran) == 0, "reachable objects were finalized");
    for (int i = 0; i < kPairs; ++i) {
        GC_register_finalizer_no_order(held[i], NULL, NULL, NULL, NULL);
        held[i] = NULL;
    }
    collect();
    expect_half_dead(data, kPairs, "client data of a removed finalizer");
    forget(data, kPairs);
}

/* What is revived lives on and is not finalized again, until it is registered anew. */
static void check_revived(void) {
    make_pairs(GC_register_finalizer_no_order, GC_register_finalizer);
    revive = 1;
    finalize_once();
    revive = 0;
    expect_most(first_ran, "revived");
    collect();
    GC_invoke_finalizers();
    int n = 0;
    for (int i = 0; i < kPairs; ++i) {
        if (revived[i] == NULL) continue;
        ++n;
        CHECK(revived[i]->check == pattern((uint64_t)i, 0), "a revived object changed");
        CHECK(first_ran[i] <= 1, "a revived object was finalized again");
        struct object *object = revived[i];
        GC_register_finalizer_no_order(object, finalize_first, &first_ran[i], NULL, NULL);
        revived[i] = NULL;
    }
    CHECK(n != 0, "nothing was revived");
    finalize_once();
    finalize_once();
    int twice = 0;
    for (int i = 0; i < kPairs; ++i) twice += first_ran[i] == 2;
    CHECK(2 * twice >= kPairs, "only %d revived objects were finalized again", twice);
}

static void check_all(void) {
    reset();
    for (int i = 0; i < kPairs; ++i) {
        held[i] = make((GC_word)i, NULL);
        GC_register_finalizer(held[i], finalize_first, &first_ran[i], NULL, NULL);
    }
    GC_finalize_all();
    CHECK(sum(first_ran) == kPairs, "GC_finalize_all ran %d of %d", sum(first_ran), (int)kPairs);
    CHECK(GC_should_invoke_finalizers() == 0, "GC_finalize_all left some");
    memset((void *)held, 0, sizeof held);
}

/* Others are queued meanwhile, and wait for it: what allocates here may have been called from anywhere. */
static int cleaned, depth, deepest;
static void allocate_much(void *object, void *cd) {
    (void)cd;
    if (++depth > deepest) deepest = depth;
    struct object *list = NULL;
    for (int i = 0; i < 2000; ++i) list = make((GC_word)i, list);
    for (struct object *at = list; at != NULL; at = at->to)
        if (at->check != pattern(at->number, 0)) ++wrong;
    if (((struct object *)object)->check != pattern(77, 0)) ++wrong;
    GC_gcollect();
    ++cleaned;
    --depth;
}
NOINLINE static void make_allocating(void) {
    for (int i = 0; i < kPairs; ++i) GC_register_finalizer(make(77, NULL), allocate_much, NULL, NULL, NULL);
}

/* No call asks for a collection: allocation collects, and runs what it queued. */
static int by_allocation;
static void count_one(void *object, void *counter) {
    (void)object;
    ++*(int *)counter;
}
NOINLINE static void make_counted(void) {
    for (int i = 0; i < kPairs; ++i) GC_register_finalizer(make(1, NULL), count_one, &by_allocation, NULL, NULL);
}
static void check_by_allocation(void) {
    make_counted();
    for (long bytes = 0; by_allocation < kPairs / 2 && bytes < 1L << 30; bytes += 64) GC_malloc(64);
    CHECK(by_allocation >= kPairs / 2, "allocating ran %d of %d finalizers", by_allocation, (int)kPairs);
}

int main(void) {
    GC_INIT();
    GC_set_java_finalization(1);
    GC_set_finalize_on_demand(1);
    check_ordered(GC_register_finalizer, "ordered");
    check_ordered(GC_register_finalizer_ignore_self, "ordered, ignoring itself");
    check_unordered();
    check_unreachable();
    check_cycles();
    check_registration();
    check_data();
    check_revived();
    check_all();
    GC_set_finalize_on_demand(0);
    make_allocating();
    finalize_once();
    CHECK(cleaned >= kPairs / 2, "only %d of %d finalizers that allocate ran", cleaned, (int)kPairs);
    if (!skip_on_bdwgc("finalizers are called inside others, now and then"))
        CHECK(deepest == 1, "finalizers were called inside others, %d deep", deepest);
    check_by_allocation();
    return 0;
}
