/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: data and bss of a library that comes and goes by dlopen and dlclose, again and again.
 * Invariant: after dlclose collections go on without it.
 * Must not know: how libraries are found.
 */
#include <gc.h>

#include "library.h"
#include "watched.h"

static void *volatile *data, *volatile *bss;
static void put_data(int i, void *object) { data[i] = object; }
static void clear_data(int i) { data[i] = NULL; }
static void put_bss(int i, void *object) { bss[i] = object; }
static void clear_bss(int i) { bss[i] = NULL; }

int main(void) {
    static struct watched left[kPlaces];
    GC_INIT();
    for (int round = 0; round < 4; ++round) {
        void *library = library_open("library.so");
        data = library_symbol(library, "library_data");
        bss = library_symbol(library, "library_bss");
        check_place(&(struct place){.what = "data of a loaded library", .put = put_data, .clear = clear_data});
        check_place(&(struct place){.what = "bss of a loaded library", .put = put_bss, .clear = clear_bss});
        fill(bss, left, kPlaces);
        scrub();
        collect();
        expect_kept(left, kPlaces, "bss of a library before it goes");
        CHECK(dlclose(library) == 0, "dlclose failed");
        collect();
        expect_half_dead(left, kPlaces, "variables of a library that is gone");
        forget(left, kPlaces);
    }
    return 0;
}
