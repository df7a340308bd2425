/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: what is told of each dead object at the sweep: GC_finalized_malloc and procedures for a kind.
 * Invariant: called for the dead only, with their contents whole, once unless they were kept; one that is dead is not
 *    marked; where what they refer to is kept, one goes before what it refers to.
 * Must not know: when the sweep comes to an object.
 */
#include <gc.h>
#include <gc/gc_disclaim.h>
#include <gc/gc_inline.h>
#include <gc/gc_mark.h>

#include "watched.h"

enum { kObjects = 400 };
struct object {
    GC_word link, state, number, check;
    struct object *to;
};
static const GC_word kAlive = 0xfff0000000000a11u, kKept = 0xfff0000000000c3du;
static struct object *volatile held[kObjects];
static int told[kObjects], wrong;
static int keep_first;

static void finalize(void *p, void *cd) {
    struct object *object = p;
    if (cd != &wrong || object->number >= kObjects || object->check != pattern(object->number, 1)) {
        ++wrong;
        return;
    }
    ++told[object->number];
}
static const struct GC_finalizer_closure closure = {finalize, &wrong};

NOINLINE static void make_finalized(void) {
    for (GC_word i = 0; i < kObjects; ++i) {
        struct object *object = GC_finalized_malloc(sizeof *object, &closure);
        CHECK(object != NULL, "GC_finalized_malloc gave NULL");
        CHECK(object->link == 0 && object->state == 0 && object->to == NULL, "GC_finalized_malloc is not zeroed");
        CHECK(GC_base(object) == (char *)object - sizeof(GC_word), "GC_base is not one word before");
        object->number = i;
        object->check = pattern(i, 1);
        if (i % 2) held[i] = object;
    }
}

/* Free slots too: they have no state. */
static int disclaim(void *p) {
    struct object *object = p;
    if (object->state != kAlive && object->state != kKept) return 0;
    if (object->number >= kObjects || object->check != pattern(object->number, 1)) ++wrong;
    if (object->to != NULL && object->to->check != pattern(object->number + kObjects, 1)) ++wrong;
    ++told[object->number % kObjects];
    if (keep_first && object->state == kAlive) {
        object->state = kKept;
        return 1;
    }
    object->state = 0;
    return 0;
}

NOINLINE static void make_disclaimed(int kind, int with_reference) {
    for (GC_word i = 0; i < kObjects; ++i) {
        struct object *object = GC_malloc_kind(sizeof *object, kind);
        if (with_reference) {
            object->to = GC_malloc(sizeof *object);
            object->to->check = pattern(i + kObjects, 1);
        }
        object->number = i;
        object->check = pattern(i, 1);
        object->state = kAlive;
        if (i % 2) held[i] = object;
    }
}

static int never(void) { return 0; }

/* 8.2.2 sweeps late, or not at all before it marks again, unless the collection might be stopped. */
static void collect_all(void) {
    for (int i = 0; i < 3; ++i) {
        collect();
        GC_try_to_collect(never);
    }
}

/* Half of them are held. Returns how many of the others were told of. */
static int check(const char *what, int most) {
    int dead = 0;
    CHECK(wrong == 0, "%s: %d calls saw a wrong object", what, wrong);
    for (int i = 0; i < kObjects; ++i) {
        CHECK(i % 2 == 0 || told[i] == 0, "%s: told of an object that is alive", what);
        CHECK(told[i] <= most, "%s: told of an object %d times", what, told[i]);
        dead += told[i] != 0;
        if (i % 2) CHECK(held[i]->check == pattern((uint64_t)i, 1), "%s: an object that is alive changed", what);
    }
    CHECK(4 * dead >= kObjects, "%s: told of %d of %d dead objects", what, dead, kObjects / 2);
    wipe((void *volatile *)held, kObjects);
    return dead;
}

static int new_kind(int mark_from_all) {
    int kind = (int)GC_new_kind(GC_new_free_list(), GC_DS_LENGTH, 1, 1);
    GC_register_disclaim_proc(kind, disclaim, mark_from_all);
    return kind;
}

static void check_kind(int mark_from_all, int with_reference, int keep, const char *what) {
    collect_all();
    memset(told, 0, sizeof told);
    keep_first = keep;
    make_disclaimed(new_kind(mark_from_all), with_reference);
    collect_all();
    check(what, keep ? 2 : 1);
    if (keep) {
        int twice = 0;
        for (int i = 0; i < kObjects; ++i) twice += told[i] == 2;
        CHECK(twice != 0, "%s: what was kept once was never told of again", what);
    }
    keep_first = 0;
    collect_all();
}

static int told_of_chain;
static int disclaim_chain(void *p) {
    struct object *object = p;
    if (object->state != kAlive) return 0;
    if (GC_is_marked(p)) ++wrong;
    if (object->to != NULL && object->to->state != kAlive) ++wrong;
    object->state = 0;
    ++told_of_chain;
    return 0;
}
NOINLINE static void make_chains(int kind) {
    for (int i = 0; i < kObjects; ++i) {
        struct object *last = NULL;
        for (int depth = 0; depth < 4; ++depth) {
            struct object *object = GC_malloc_kind(sizeof *object, kind);
            object->to = last;
            object->state = kAlive;
            last = object;
        }
    }
}
static void check_chains(void) {
    int kind = (int)GC_new_kind(GC_new_free_list(), GC_DS_LENGTH, 1, 1);
    GC_register_disclaim_proc(kind, disclaim_chain, 1);
    make_chains(kind);
    for (int i = 0; i < 4; ++i) collect_all();
    if (skip_on_bdwgc("8.2.2 does not keep what the last object of a block refers to")) wrong = 0;
    CHECK(wrong == 0, "chains: %d calls saw something that was gone, or themselves marked", wrong);
    CHECK(told_of_chain >= kObjects, "chains: told of %d of %d", told_of_chain, 4 * kObjects);
}

/* A closure that only its object refers to, by an address that is not its own. */
static int finalized_by_own;
static void finalize_by_own(void *p, void *cd) {
    if (*(int *)p != 7 || cd != &finalized_by_own) ++wrong;
    ++finalized_by_own;
}
NOINLINE static void make_with_own_closures(void) {
    for (int i = 0; i < kObjects; ++i) {
        struct GC_finalizer_closure *own = GC_malloc_atomic(sizeof *own);
        own->proc = finalize_by_own;
        own->cd = &finalized_by_own;
        int *object = GC_finalized_malloc(sizeof *object, own);
        *object = 7;
    }
}
static void check_own_closures(void) {
    make_with_own_closures();
    collect_all();
    CHECK(wrong == 0 && 2 * finalized_by_own > kObjects, "closures of their own: %d called, %d wrong", finalized_by_own,
          wrong);
}

static void *mark(void *p) {
    GC_set_mark_bit(p);
    return p;
}

int main(int argc, char **argv) {
    if (argument(argc, argv, 0, 1) == 0) GC_set_all_interior_pointers(0);
    GC_INIT();
    GC_call_with_alloc_lock(mark, GC_malloc(100)); /* before any collection */
    GC_init_finalized_malloc();
    GC_init_finalized_malloc(); /* again: nothing */
    make_finalized();
    collect_all();
    check("GC_finalized_malloc", 1);
    collect_all();
    check_kind(0, 0, 0, "a procedure for a kind");
    check_kind(1, 1, 0, "a procedure that sees what the dead refer to");
    check_kind(1, 1, 1, "a procedure that keeps objects once");
    check_chains();
    check_own_closures();
    return 0;
}
