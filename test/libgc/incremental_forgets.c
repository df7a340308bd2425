/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: objects that were written to while a collection went on beside the program.
 * Invariant: once nothing refers to them they die: nothing that such a collection noted keeps them.
 * Must not know: how writes are noticed.
 */
#include <gc.h>
#include <gc/gc_mark.h>

#include "check.h"

enum { kBytes = 20000, kObjects = 4000 };
static int found;

static void visit(void *object, size_t bytes, void *data) {
    (void)object;
    (void)data;
    found += bytes >= kBytes && bytes < 2 * kBytes;
}

static void *enumerate(void *argument) {
    GC_enumerate_reachable_objects_inner(visit, NULL);
    return argument;
}

NOINLINE static void allocate(void) {
    GC_word before = GC_get_gc_no();
    for (int i = 0; i < kObjects || GC_get_gc_no() == before; ++i) *(volatile char *)GC_malloc(kBytes) = 1;
}

int main(void) {
    GC_INIT();
    GC_enable_incremental();
    if (!GC_is_incremental_mode()) not_available("collections beside the program");
    allocate();
    GC_gcollect();
    GC_gcollect();
    GC_call_with_alloc_lock(enumerate, NULL);
    CHECK(found < 40, "%d of %d objects that nothing refers to are there still", found, (int)kObjects);
    return 0;
}
