/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: thread-local variables of a library that was loaded by dlopen, of main and of another thread: in blocks of
 *    their own, and in the space that each thread has from its start.
 * Invariant: the place named is the only one that keeps the objects; cleared, it keeps them no more.
 * Must not know: where thread-local storage lies.
 */
#define GC_THREADS
#include <gc.h>

#include "library.h"
#include "watched.h"

static void (*put)(int, void *);
static void clear(int i) { put(i, NULL); }

static void check(const char *name) {
    static struct helper before, after;
    helper_start(&before);
    void *library = library_open(name);
    *(void **)&put = library_symbol(library, "library_put_thread_local");
    helper_start(&after);
    check_place(&(struct place){.what = "__thread of a loaded library, main", .put = put, .clear = clear});
    check_place(&(struct place){
        .what = "__thread of a loaded library, a thread older than it", .put = put, .clear = clear, .in = &before});
    check_place(&(struct place){
        .what = "__thread of a loaded library, a thread younger than it", .put = put, .clear = clear, .in = &after});
    helper_end(&before);
    helper_end(&after);
    dlclose(library);
    collect();
}

int main(void) {
    exit_on_bdwgc("thread-local variables of a loaded library");
    GC_INIT();
    check("library.so");
    check("library_static.so");
    return 0;
}
