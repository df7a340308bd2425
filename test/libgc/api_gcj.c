/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: objects whose first word points to a type with a descriptor, as Java's compiler made them.
 * Invariant: words that the type's descriptor names keep, others do not.
 * Must not know: the mark procedure, which only debug objects use.
 */
#include <gc.h>
#include <gc/gc_gcj.h>
#include <gc/gc_mark.h>

#include "watched.h"

struct type {
    void *methods;
    GC_word descriptor; /* at offset 8, as the interface has it */
};
static struct type middle = {NULL, (GC_word)1 << (63 - 2) | GC_DS_BITMAP};
static struct type none = {NULL, GC_DS_LENGTH};

static struct GC_ms_entry *mark_all(GC_word *object, struct GC_ms_entry *sp, struct GC_ms_entry *limit,
                                    GC_word environment) {
    GC_word *words = environment == 1 ? (GC_word *)GC_USR_PTR_FROM_BASE(object) : object;
    for (int i = 1; i < 4; ++i) sp = GC_MARK_AND_PUSH((void *)words[i], sp, limit, (void **)&words[i]);
    return sp;
}

static struct watched named[kPlaces], unnamed[kPlaces], untyped[kPlaces];
static GC_word *volatile objects[2 * kPlaces];

NOINLINE static void make(void) {
    for (size_t i = 0; i < kPlaces; ++i) {
        GC_word *object = i % 2 ? GC_gcj_malloc(32, &middle) : GC_gcj_malloc_ignore_off_page(32, &middle);
        CHECK(object != NULL && object[0] == (GC_word)&middle, "the type is not in the first word");
        CHECK(object[1] == 0 && object[2] == 0 && object[3] == 0, "an object is not zeroed");
        CHECK(GC_get_kind_and_size(object, NULL) == GC_gcj_kind, "an object is not of the kind of GC_gcj_malloc");
        object[2] = (GC_word)watch_new(&named[i], 48, i);
        object[3] = (GC_word)watch_new(&unnamed[i], 48, i);
        objects[i] = object;
        object = GC_gcj_malloc(32, &none);
        object[1] = (GC_word)watch_new(&untyped[i], 48, i);
        objects[kPlaces + i] = object;
    }
    scrub();
}

int main(void) {
    GC_mark_proc procedure = mark_all; /* which the interface takes as an object's address */
    void *address;
    memcpy(&address, &procedure, sizeof address);
    GC_init_gcj_malloc(GC_GCJ_RESERVED_MARK_PROC_INDEX, address);
    GC_init_gcj_malloc(GC_GCJ_RESERVED_MARK_PROC_INDEX, address); /* again: nothing */
    CHECK(GC_gcj_kind >= 4, "the kind is %d", GC_gcj_kind);
    make();
    collect();
    expect_kept(named, kPlaces, "words that the type names");
    expect_half_dead(unnamed, kPlaces, "words that the type does not name");
    expect_half_dead(untyped, kPlaces, "words of a type without pointers");
    void **debug = GC_debug_gcj_malloc(32, &middle, __FILE__, __LINE__);
    CHECK(debug != NULL && debug[0] == &middle, "the type is not in the first word of a debug object");
    return 0;
}
