/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: the objects that the last collection marked, and the mark of a single one.
 * Invariant: every reachable object is told of once, by its base and its size.
 * Must not know: the order of objects.
 */
#include <gc.h>
#include <gc/gc_mark.h>

#include "watched.h"

enum { kObjects = 200 };
static void *volatile held[kObjects];
static uintptr_t hidden[kObjects], hidden_dead[kObjects]; /* complemented */
static int seen[kObjects], dead_seen[kObjects], wrong_size, wrong_data, not_base, all;

static void visit(void *object, size_t size, void *data) {
    ++all;
    if (data != &all) ++wrong_data;
    if (GC_base(object) != object) ++not_base;
    for (int i = 0; i < kObjects; ++i) {
        if (hidden[i] == ~(uintptr_t)object) {
            ++seen[i];
            if (size != GC_size(object)) ++wrong_size;
        }
        if (hidden_dead[i] == ~(uintptr_t)object) ++dead_seen[i];
    }
}

static void *enumerate(void *argument) {
    GC_enumerate_reachable_objects_inner(visit, &all);
    return argument;
}

NOINLINE static void make(void) {
    for (size_t i = 0; i < kObjects; ++i) {
        size_t size = 1 + mixed(i) % (i % 10 == 0 ? 50000 : 300);
        held[i] = i % 3 == 0 ? GC_malloc_atomic(size) : i % 7 == 0 ? GC_malloc_uncollectable(size) : GC_malloc(size);
        hidden[i] = ~(uintptr_t)held[i];
        hidden_dead[i] = ~(uintptr_t)GC_malloc(1 + mixed(i) % 3000);
    }
    scrub();
}

static void *check_marks(void *argument) {
    int dead = 0;
    for (int i = 0; i < kObjects; ++i) {
        void *object = (void *)~hidden[i];
        CHECK(GC_is_marked(object) == 1, "a reachable object is not marked after a collection");
        /* A dead one's memory may have left the heap, and then its mark must not be asked for. */
        void *other = (void *)~hidden_dead[i];
        dead += GC_base(other) != other || !GC_is_marked(other);
        if (i % 7 == 0) continue; /* uncollectable objects are born marked */
        GC_clear_mark_bit(object);
        CHECK(GC_is_marked(object) == 0, "a mark was not cleared");
        GC_set_mark_bit(object);
        CHECK(GC_is_marked(object) == 1, "a mark was not set");
    }
    CHECK(2 * dead >= kObjects, "only %d of %d unreachable objects are not marked", dead, (int)kObjects);
    return argument;
}

int main(void) {
    GC_INIT();
    make();
    scrub();
    GC_gcollect();
    GC_call_with_alloc_lock(enumerate, NULL);
    CHECK(wrong_data == 0, "client data is another");
    CHECK(not_base == 0, "%d of %d are no base addresses", not_base, all);
    CHECK(wrong_size == 0, "%d objects with a wrong size", wrong_size);
    int dead = 0;
    for (int i = 0; i < kObjects; ++i) {
        CHECK(seen[i] == 1, "object %d was told of %d times", i, seen[i]);
        dead += dead_seen[i] == 0;
    }
    CHECK(2 * dead >= kObjects, "%d of %d unreachable objects were told of", kObjects - dead, (int)kObjects);
    GC_call_with_alloc_lock(check_marks, NULL);
    return 0;
}
