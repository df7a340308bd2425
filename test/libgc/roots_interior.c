/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: pointers into objects and one past their end, from static data, objects and a stack.
 * Invariant: the place named is the only one that keeps the objects; cleared, it keeps them no more.
 * Must not know: sizes of slots.
 */
#include <gc.h>

#include "watched.h"

static char *volatile places[kPlaces];
static char *volatile *object;
static int way; /* first byte but one, middle, last byte, one past the end */

static char *into(char *base, size_t size) {
    return way == 0 ? base + 1 : way == 1 ? base + size / 2 : way == 2 ? base + size - 1 : base + size;
}

NOINLINE static void fill_into(char *volatile *to, struct watched *watched, const size_t *sizes, int n) {
    for (int i = 0; i < n; ++i) to[i] = into(watch_new(&watched[i], sizes[i], (uint64_t)i), sizes[i]);
}

static void check(char *volatile *to, const char *where) {
    /* Sizes at the limits of classes, pages and what is mapped by itself. */
    static const size_t sizes[kPlaces] = {8,    16,   24,   32,    40,    48,    64,    80,     96,     128,    256,
                                          384,  400,  512,  1024,  2032,  2048,  2064,  4000,   4080,   4096,   4112,
                                          8192, 8200, 9000, 16384, 32768, 65536, 65544, 100000, 200000, 1048576};
    static const char *const ways[] = {"the second byte", "the middle", "the last byte", "one past the end"};
    static struct watched watched[kPlaces];
    for (way = 0; way < 4; ++way) {
        char what[100];
        snprintf(what, sizeof what, "pointers to %s of objects, %s", ways[way], where);
        fill_into(to, watched, sizes, kPlaces);
        collect();
        expect_kept(watched, kPlaces, what);
        wipe((void *volatile *)to, kPlaces);
        collect();
        expect_half_dead(watched, kPlaces, what);
        forget(watched, kPlaces);
    }
}

int main(void) {
    char *volatile frame[kPlaces];
    GC_INIT();
    object = GC_malloc(sizeof frame);
    check(places, "in static data");
    check(object, "in an object");
    check(frame, "on the stack");
    return 0;
}
