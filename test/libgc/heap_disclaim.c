/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: the heap of a program that makes many objects of which a procedure is told when they are dead, and keeps few.
 * Invariant: dead objects are no reason for a larger heap: it stays below twice that of objects without a procedure.
 * Must not know: when the procedures are called.
 */
#include <gc.h>
#include <gc/gc_disclaim.h>

#include "check.h"

enum { kKept = 2000, kMade = 3000000 };
struct object {
    struct object *other;
    GC_word number;
};
static struct object *kept[kKept];
static volatile GC_word told;

static void count(void *object, void *data) {
    (void)object, (void)data;
    ++told;
}
static const struct GC_finalizer_closure closure = {count, NULL};

/* Returns the largest heap meanwhile. */
NOINLINE static size_t largest_heap(int with_procedure) {
    uint64_t random = 1;
    size_t largest = 0;
    for (GC_word i = 0; i < kMade; ++i) {
        struct object *object = with_procedure ? GC_finalized_malloc(sizeof *object, &closure)
                                               : GC_malloc(sizeof *object + sizeof(GC_word));
        uint64_t drawn = next_random(&random);
        object->number = i;
        object->other = kept[drawn % kKept];
        if (object->other != NULL) object->other->other = NULL;
        kept[drawn % kKept] = object;
        if (i % 1000 != 0) continue;
        size_t heap = GC_get_heap_size();
        if (heap > largest) largest = heap;
    }
    return largest;
}

int main(void) {
    GC_INIT();
    size_t plain = largest_heap(0);
    memset(kept, 0, sizeof kept);
    size_t with = largest_heap(1);
    CHECK(told > kMade / 2, "told of %lu of %d", (unsigned long)told, kMade);
    CHECK(with <= 2 * plain + (4 << 20), "a heap of %zu bytes with a procedure, %zu without", with, plain);
    return 0;
}
