/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: words that point to free memory of typed objects, in which objects of another size lay.
 * Invariant: a collection ends, whatever they held.
 * Must not know: where an object says what it holds.
 */
#include <gc.h>
#include <gc/gc_typed.h>

#include "check.h"

enum { kObjects = 30000, kSizes = 40 };
static GC_word hidden[kObjects], shown[kObjects];
static GC_descr descriptor;

NOINLINE static void make_objects(size_t size) {
    for (int i = 0; i < kObjects; ++i) {
        GC_word *object = GC_MALLOC_EXPLICITLY_TYPED(size, descriptor);
        for (size_t word = 0; word < size / sizeof *object; ++word) object[word] = 0x00007f0000001000;
        hidden[i] = GC_HIDE_POINTER(object);
    }
    scrub();
}

int main(void) {
    GC_INIT();
    const GC_word map = 1;
    descriptor = GC_make_descriptor(&map, 4);
    for (unsigned round = 0; round < 10; ++round) {
        GC_disable();
        make_objects(200 + 16 * round);
        for (int i = 0; i < kObjects && round % 2 != 0; ++i) GC_FREE(GC_REVEAL_POINTER(hidden[i]));
        GC_enable();
        GC_gcollect();
        for (unsigned i = 0; i < kSizes; ++i)
            CHECK(GC_MALLOC_EXPLICITLY_TYPED(24 + 16 * (round % 4 + i), descriptor) != NULL, "no memory");
        for (int i = 0; i < kObjects; ++i) shown[i] = ~hidden[i] + 16;
        GC_gcollect();
        memset(shown, 0, sizeof shown);
    }
    return 0;
}
