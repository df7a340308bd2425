/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: kinds of the program's own: by length, bitmap, mark procedure, descriptor in the object or in its type.
 * Invariant: what a kind's descriptor names is kept, the rest is not; a procedure may keep what it alone can read.
 * Must not know: how many markers there are.
 */
#include <gc.h>
#include <gc/gc_inline.h>
#include <gc/gc_mark.h>
#include <stddef.h>

#include "watched.h"

enum { kObjects = 24, kWords = 6 };
static struct watched watched[kObjects][kWords];
static GC_word *volatile objects[kObjects];

/* Each of an object's words but the first `skip` refers to an object of its own, complemented if hidden. */
NOINLINE static void make(int kind, size_t skip, const GC_word *first_words, int hidden) {
    for (size_t i = 0; i < kObjects; ++i) {
        GC_word *object =
            i % 2 ? GC_generic_malloc(kWords * sizeof(GC_word), kind) : GC_malloc_kind(kWords * sizeof(GC_word), kind);
        CHECK(object != NULL, "an object of kind %d is NULL", kind);
        for (size_t w = 0; w < kWords; ++w) CHECK(object[w] == 0, "an object of kind %d is not zeroed", kind);
        CHECK(GC_get_kind_and_size(object, NULL) == kind, "an object of kind %d has kind %d", kind,
              GC_get_kind_and_size(object, NULL));
        objects[i] = object;
        for (size_t w = 0; w < skip; ++w) object[w] = first_words[w];
        for (size_t w = skip; w < kWords; ++w) {
            GC_word address = (GC_word)watch_new(&watched[i][w], 48, i * kWords + w);
            object[w] = hidden ? ~address : address;
        }
    }
    scrub();
}

/* Bit w of keeps: word w is a pointer. */
static void check(int kind, size_t skip, const GC_word *first_words, int hidden, unsigned keeps, const char *what) {
    int others = 0, dead = 0;
    make(kind, skip, first_words, hidden);
    collect();
    for (int i = 0; i < kObjects; ++i) {
        for (size_t w = skip; w < kWords; ++w) {
            if (keeps >> w & 1) {
                CHECK(is_intact(&watched[i][w]), "%s: the object of word %zu was lost", what, w);
            } else {
                ++others;
                dead += !is_alive(&watched[i][w]);
            }
        }
        CHECK(GC_base(objects[i]) == objects[i], "%s: an object is gone", what);
    }
    CHECK(2 * dead >= others, "%s: only %d of %d objects behind other words died", what, dead, others);
    for (int i = 0; i < kObjects; ++i) forget(watched[i], kWords);
    wipe((void *volatile *)objects, kObjects);
    collect();
}

static int new_kind(GC_word descriptor, int add_size) {
    void **list = GC_new_free_list();
    CHECK(list != NULL, "no free list");
    int kind = (int)GC_new_kind(list, descriptor, add_size, 1);
    CHECK(kind >= 4 && kind < 16, "a new kind is %d", kind);
    return kind;
}

static unsigned calls, wrong_environments;
static const GC_word kEnvironment = 0x0123456789abcdu;

/* Reads complemented words from the second on; the first is a mark that the object is complete. */
static struct GC_ms_entry *push_hidden(GC_word *object, struct GC_ms_entry *sp, struct GC_ms_entry *limit,
                                       GC_word environment) {
    __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
    if (environment != kEnvironment) __atomic_fetch_add(&wrong_environments, 1, __ATOMIC_RELAXED);
    if (object[0] != ~(GC_word)0) return sp; /* a free slot */
    for (size_t w = 1; w < kWords; w += 2)
        if (object[w] != 0) sp = GC_MARK_AND_PUSH((void *)~object[w], sp, limit, (void **)&object[w]);
    return sp;
}

struct type {
    const char *name;
    GC_word unused, descriptor;
};
static struct type two_words = {"two", 0, 3 * sizeof(GC_word) | GC_DS_LENGTH};
static struct type last_word = {"last", 0, (GC_word)1 << (63 - 5) | GC_DS_BITMAP};

int main(void) {
    GC_INIT();
    check(new_kind(2 * sizeof(GC_word) | GC_DS_LENGTH, 0), 0, NULL, 0, 3, "a length of two words");
    check(new_kind(GC_DS_LENGTH, 1), 0, NULL, 0, 0x3f, "a length of nothing and the size");
    check(new_kind((GC_word)5 << 61 | GC_DS_BITMAP, 0), 0, NULL, 0, 5, "a bitmap of words 0 and 2");
    /* The lock is not needed while there is one thread. */
    int kind = (int)GC_new_kind_inner(GC_new_free_list_inner(), (GC_word)1 << 58 | GC_DS_BITMAP, 0, 1);
    check(kind, 0, NULL, 0, 1 << 5, "a bitmap of word 5");

    unsigned procedure = GC_new_proc(push_hidden);
    CHECK(procedure >= GC_RESERVED_MARK_PROCS && procedure < GC_MAX_MARK_PROCS, "a new procedure is %u", procedure);
    GC_word complete = ~(GC_word)0;
    check(new_kind(GC_MAKE_PROC(procedure, kEnvironment), 0), 1, &complete, 1, 0x2a, "a mark procedure");
    CHECK(calls >= kObjects, "the mark procedure was called %u times for %d objects", calls, (int)kObjects);
    CHECK(wrong_environments == 0, "a mark procedure got another environment");

    kind = new_kind(sizeof(GC_word) | GC_DS_PER_OBJECT, 0); /* the descriptor is the second word */
    GC_word own[2] = {0, 4 * sizeof(GC_word) | GC_DS_LENGTH};
    check(kind, 2, own, 0, 0xc, "a length in the object");
    own[1] = (GC_word)1 << (63 - 3) | GC_DS_BITMAP;
    check(kind, 2, own, 0, 8, "a bitmap in the object");

    kind = new_kind(
        (GC_word)(-(GC_signed_word)offsetof(struct type, descriptor) - GC_INDIR_PER_OBJ_BIAS) | GC_DS_PER_OBJECT, 0);
    GC_word type = (GC_word)&two_words;
    check(kind, 1, &type, 0, 6, "a length in the type");
    type = (GC_word)&last_word;
    check(kind, 1, &type, 0, 0x20, "a bitmap in the type");
    CHECK(GC_new_proc_inner(push_hidden) == procedure + 1, "the next procedure has another number");
    return 0;
}
