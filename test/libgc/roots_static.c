/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: static data and bss as roots, whole and within structures.
 * Invariant: the place named is the only one that keeps the objects; cleared, it keeps them no more.
 * Must not know: how a collector finds a program's segments.
 */
#include <gc.h>

#include "watched.h"

static void *volatile data[kPlaces] = {(void *)1};
static void *volatile bss[kPlaces];
static struct {
    char before;
    void *volatile object;
    char after;
} inside[kPlaces];

static void put_data(int i, void *object) { data[i] = object; }
static void clear_data(int i) { data[i] = NULL; }
static void put_bss(int i, void *object) { bss[i] = object; }
static void clear_bss(int i) { bss[i] = NULL; }
static void put_inside(int i, void *object) { inside[i].object = object; }
static void clear_inside(int i) { inside[i].object = NULL; }
static void put_in_function(int i, void *object) {
    static void *volatile places[kPlaces];
    places[i] = object;
    CHECK(places[i] == object, "a static variable lost its value");
}
static void clear_in_function(int i) { put_in_function(i, NULL); }

int main(void) {
    GC_INIT();
    check_place(&(struct place){.what = "data", .put = put_data, .clear = clear_data});
    check_place(&(struct place){.what = "bss", .put = put_bss, .clear = clear_bss});
    check_place(&(struct place){.what = "members of structures", .put = put_inside, .clear = clear_inside});
    check_place(&(struct place){.what = "statics of a function", .put = put_in_function, .clear = clear_in_function});
    return 0;
}
