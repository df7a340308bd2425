/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: a thread that still has the thread-local block of a library that is gone, while another library, which has a
 *    larger one, goes by its number.
 * Invariant: a collection ends.
 * Must not know: where thread-local storage lies.
 */
#define GC_THREADS
#include <gc.h>

#include "library.h"
#include "watched.h"

static void (*put)(int, void *);
static void put_nothing(void *argument) {
    (void)argument;
    put(0, NULL);
}

int main(void) {
    exit_on_bdwgc("thread-local variables of a loaded library");
    static struct helper helper;
    GC_INIT();
    void *library = library_open("library.so");
    *(void **)&put = library_symbol(library, "library_put_thread_local");
    helper_start(&helper);
    helper_do(&helper, put_nothing, NULL);
    collect();
    dlclose(library);
    library = library_open("library_large.so");
    collect();
    helper_end(&helper);
    dlclose(library);
    return 0;
}
