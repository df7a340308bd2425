/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: interior pointers switched off: what still keeps an object, and what does not.
 * Invariant: from stacks any address keeps; from elsewhere base addresses and registered offsets only.
 * Must not know: how a displacement is stored.
 */
#include <gc.h>

#include "watched.h"

enum { kSize = 96 };
static struct watched watched[kPlaces];
static char *volatile places[kPlaces];
static char *volatile *object;

NOINLINE static void fill_at(char *volatile *to, size_t offset) {
    for (int i = 0; i < kPlaces; ++i) to[i] = (char *)watch_new(&watched[i], kSize, (uint64_t)i) + offset;
}

static void check(char *volatile *to, size_t offset, int keeps, const char *what) {
    fill_at(to, offset);
    collect();
    if (keeps)
        expect_kept(watched, kPlaces, what);
    else
        expect_half_dead(watched, kPlaces, what);
    wipe((void *volatile *)to, kPlaces);
    collect();
    expect_half_dead(watched, kPlaces, what);
    forget(watched, kPlaces);
}

int main(void) {
    char *volatile frame[kPlaces];
    GC_set_all_interior_pointers(0);
    GC_INIT();
    CHECK(GC_get_all_interior_pointers() == 0, "interior pointers are on although they were switched off");
    GC_REGISTER_DISPLACEMENT(24);
    object = GC_malloc(sizeof frame);
    check(places, 0, 1, "base addresses in static data");
    check(object, 0, 1, "base addresses in an object");
    check(places, 24, 1, "registered offsets in static data");
    check(object, 24, 1, "registered offsets in an object");
    check(places, 40, 0, "offsets that are not registered, in static data");
    check(object, 40, 0, "offsets that are not registered, in an object");
    check(frame, 0, 1, "base addresses on the stack");
    check(frame, 40, 1, "any offsets, on the stack");
    return 0;
}
