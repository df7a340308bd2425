/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: variables declared __thread as roots: of main and of another thread.
 * Invariant: the place named is the only one that keeps the objects; cleared, it keeps them no more.
 * Must not know: where thread-local storage lies.
 */
#define GC_THREADS
#include <gc.h>

#include "watched.h"

static __thread void *volatile bss[kPlaces];
static __thread void *volatile data[kPlaces] = {(void *)1};

static void put_bss(int i, void *object) { bss[i] = object; }
static void clear_bss(int i) { bss[i] = NULL; }
static void put_data(int i, void *object) { data[i] = object; }
static void clear_data(int i) { data[i] = NULL; }

int main(void) {
    static struct helper helper;
    GC_INIT();
    helper_start(&helper);
    if (!skip_on_bdwgc("thread-local variables of the program")) {
        check_place(&(struct place){.what = "__thread variables of main, zero", .put = put_bss, .clear = clear_bss});
        check_place(&(struct place){.what = "__thread variables of main, data", .put = put_data, .clear = clear_data});
        check_place(&(struct place){
            .what = "__thread variables of a thread, zero", .put = put_bss, .clear = clear_bss, .in = &helper});
        check_place(&(struct place){
            .what = "__thread variables of a thread, data", .put = put_data, .clear = clear_data, .in = &helper});
    }
    helper_end(&helper);
    return 0;
}
