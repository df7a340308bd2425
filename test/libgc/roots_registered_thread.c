/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: the stack of a thread that libc made and that registered itself, and that left again.
 * Invariant: the place named is the only one that keeps the objects; cleared, it keeps them no more.
 * Must not know: how threads are found.
 */
#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS
#include <gc.h>

#include "watched.h"

static __thread void *volatile *frame;
static void put(int i, void *object) { frame[i] = object; }
static void clear(int i) { frame[i] = NULL; }

static void enter(void *argument) {
    struct GC_stack_base base;
    (void)argument;
    CHECK(!GC_thread_is_registered(), "a new thread is registered");
    CHECK(GC_get_stack_base(&base) == GC_SUCCESS, "no stack base");
    CHECK(GC_register_my_thread(&base) == GC_SUCCESS, "a thread was not registered");
    CHECK(GC_register_my_thread(&base) == GC_DUPLICATE, "a second registration is no duplicate");
    CHECK(GC_thread_is_registered(), "a registered thread is not");
}

static void leave(void *argument) {
    (void)argument;
    CHECK(GC_unregister_my_thread() == GC_SUCCESS, "a thread was not unregistered");
    CHECK(!GC_thread_is_registered(), "an unregistered thread is registered");
}

static void *thread(void *helper) {
    void *volatile places[kPlaces];
    frame = places;
    wipe(places, kPlaces);
    return helper_main(helper);
}

int main(void) {
    static struct helper helper;
    GC_INIT();
    GC_allow_register_threads();
    for (int round = 0; round < 3; ++round) {
        helper_init(&helper);
        CHECK(pthread_create(&helper.id, NULL, thread, &helper) == 0, "no thread");
        for (int again = 0; again < 2; ++again) {
            helper_do(&helper, enter, NULL);
            check_place(
                &(struct place){.what = "stack of a registered thread", .put = put, .clear = clear, .in = &helper});
            helper_do(&helper, leave, NULL);
            collect(); /* it is not stopped now */
        }
        helper_end(&helper);
    }
    return 0;
}
