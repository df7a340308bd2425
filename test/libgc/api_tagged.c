/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: finalizers and weak links of objects that a client names by tagged pointers, as Lisps do: one byte behind
 *    the beginning.
 * Invariant: reachable objects are not finalized; a finalizer gets the pointer that was registered, and sees its object
 *    whole, however many collections lie between.
 * Must not know: how they are stored.
 */
#include <gc.h>

#include "watched.h"

enum { kObjects = 64, kTag = 1 };
static void *volatile held[kObjects]; /* tagged */
static int ran[kObjects], wrong;
static void *link_of[kObjects]; /* complemented, of the same objects */

static void finalize(void *object, void *counter) {
    const GC_word *words = (const GC_word *)((char *)object - kTag);
    if ((uintptr_t)object % sizeof(GC_word) != kTag) ++wrong;
    for (size_t word = 0; word < 2; ++word)
        if (words[word] != pattern((uint64_t)((int *)counter - ran), word)) ++wrong;
    ++*(int *)counter;
}

NOINLINE static void make(void) {
    for (int i = 0; i < kObjects; ++i) {
        GC_word *words = GC_malloc(2 * sizeof(GC_word));
        for (size_t word = 0; word < 2; ++word) words[word] = pattern((uint64_t)i, word);
        held[i] = (char *)words + kTag;
        GC_register_finalizer_no_order(held[i], finalize, &ran[i], NULL, NULL);
        link_of[i] = (void *)GC_HIDE_POINTER(held[i]);
        CHECK(GC_general_register_disappearing_link(&link_of[i], held[i]) == GC_SUCCESS, "a link was not registered");
    }
}

int main(void) {
    GC_set_all_interior_pointers(0);
    GC_INIT();
    GC_register_displacement(kTag);
    GC_set_finalize_on_demand(1);
    make();
    collect();
    CHECK(GC_invoke_finalizers() == 0, "reachable objects were finalized");
    for (int i = 0; i < kObjects; ++i) CHECK(link_of[i] != NULL, "the link of a reachable object was cleared");
    /* Another one in the place of the first. */
    GC_finalization_proc old = NULL;
    GC_register_finalizer_no_order(held[0], finalize, &ran[0], &old, NULL);
    CHECK(old == finalize, "the old finalizer is another one");

    wipe(held, kObjects);
    collect();
    collect();
    int queued = GC_invoke_finalizers(), cleared = 0;
    CHECK(2 * queued >= kObjects, "only %d of %d finalizers ran", queued, (int)kObjects);
    CHECK(wrong == 0, "%d times a finalizer saw a wrong pointer or object", wrong);
    for (int i = 0; i < kObjects; ++i) {
        CHECK(ran[i] <= 1, "a finalizer ran %d times", ran[i]);
        cleared += link_of[i] == NULL;
    }
    CHECK(cleared >= queued, "%d links were cleared, %d objects finalized", cleared, queued);
    return 0;
}
