/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: calls of libgc beside GC_malloc and GC_malloc_atomic, again and again by one thread, with the collections that
 *    they lead to.
 * Invariant: nothing that is allocated is kept.
 * Must not know: which collector it runs on.
 */
/* usage: calls NAME [CALLS]     prints nanoseconds of CPU time a call */
#include <gc.h>
#include <gc/gc_disclaim.h>
#include <gc/gc_gcj.h>
#include <gc/gc_mark.h>
#include <gc/gc_typed.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void *volatile sink;
static GC_descr descriptor;
static int kind;
static void *held;
static const struct { long vtable, descriptor; } type = {0, 0};

static void forget(void *object, void *data) { (void)object, (void)data; }
static const struct GC_finalizer_closure closure = {forget, NULL};

static void *scanned(void) { return GC_malloc(48); }
static void *typed(void) { return GC_malloc_explicitly_typed(48, descriptor); }
static void *typed_array(void) { return GC_calloc_explicitly_typed(10, 48, descriptor); }
static void *typed_freed(void) {
    void *object = typed();
    GC_free(object);
    return object;
}
static void *of_kind(void) { return GC_generic_malloc(48, kind); }
static void *aligned(void) { return GC_memalign(64, 64); }
static void *text(void) { return GC_strdup("a short text"); }
static void *chain(void) {
    void *objects = GC_malloc_many(48);
    for (void *next = objects; next != NULL;) {
        void *object = next;
        next = GC_NEXT(object);
        GC_NEXT(object) = NULL;
    }
    return objects;
}
static void *gcj(void) { return GC_gcj_malloc(48, (void *)&type); }
static void *disclaimed(void) { return GC_finalized_malloc(48, &closure); }
static void *uncollectable(void) {
    void *object = GC_malloc_uncollectable(48);
    GC_free(object);
    return object;
}
static void *freed(void) {
    void *object = GC_malloc(48);
    GC_free(object);
    return object;
}
static void *resized(void) { return GC_realloc(GC_realloc(GC_malloc(48), 100), 48); }
static void *finalized(void) {
    void *object = GC_malloc(32);
    GC_register_finalizer_no_order(object, forget, NULL, NULL, NULL);
    return object;
}
static void *linked(void) {
    void **link = GC_malloc_atomic(16);
    void *object = GC_malloc(32);
    *link = NULL;
    GC_general_register_disappearing_link(link, object);
    return object;
}
static void *finalized_again(void) {
    GC_register_finalizer(held, forget, NULL, NULL, NULL);
    return held;
}
static void *large(void) { return GC_malloc(65536); }
static void *large_freed(void) {
    void *object = GC_malloc_atomic(65536);
    GC_free(object);
    return object;
}
static void *base(void) { return GC_base((char *)held + 5); }

static const struct call {
    const char *name;
    void *(*make)(void);
    long times;
} calls[] = {
    {"scanned", scanned, 2000000},
    {"typed", typed, 2000000},
    {"typed-array", typed_array, 200000},
    {"typed-freed", typed_freed, 2000000},
    {"kind", of_kind, 2000000},
    {"aligned", aligned, 1000000},
    {"text", text, 2000000},
    {"chain", chain, 50000},
    {"gcj", gcj, 2000000},
    {"disclaimed", disclaimed, 200000},
    {"uncollectable", uncollectable, 2000000},
    {"freed", freed, 2000000},
    {"resized", resized, 500000},
    {"finalized", finalized, 200000},
    {"linked", linked, 200000},
    {"finalized-again", finalized_again, 1000000},
    {"large", large, 20000},
    {"large-freed", large_freed, 50000},
    {"base", base, 5000000},
};

int main(int argc, char **argv) {
    struct timespec begin, end;
    GC_INIT();
    GC_init_gcj_malloc(0, NULL);
    GC_init_finalized_malloc();
    const GC_word words[1] = {6};
    descriptor = GC_make_descriptor(words, 6);
    kind = (int)GC_new_kind(GC_new_free_list(), 0 | GC_DS_LENGTH, 1, 1);
    held = GC_malloc(48);
    for (size_t i = 0; argc > 1 && i < sizeof calls / sizeof *calls; ++i) {
        if (strcmp(argv[1], calls[i].name) != 0) continue;
        long times = argc > 2 ? strtol(argv[2], NULL, 10) : calls[i].times;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
        for (long n = 0; n < times; ++n) sink = calls[i].make();
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
        double ns = (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
        printf("%.2f\n", ns / (double)times);
        return 0;
    }
    fprintf(stderr, "usage: calls NAME [CALLS]; the names:");
    for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) fprintf(stderr, " %s", calls[i].name);
    fprintf(stderr, "\n");
    return 2;
}
