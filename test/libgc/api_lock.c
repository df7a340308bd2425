/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: the allocator lock: exclusion, results, weak links looked at under it.
 * Invariant: what runs under the lock runs alone, and no collection happens meanwhile.
 * Must not know: what kind of lock it is.
 */
#define GC_THREADS
#include <gc.h>
#include <gc/gc_mark.h>

#include "watched.h"

enum { kThreads = 4, kRounds = 20000 };
static long counter; /* no atomic on purpose */

static void *count(void *argument) {
    ++*(volatile long *)&counter;
    return argument;
}

static void *thread(void *argument) {
    for (int i = 0; i < kRounds; ++i) {
        if (i % 2) {
            if (GC_call_with_alloc_lock(count, argument) != argument)
                FAIL("GC_call_with_alloc_lock gave another result");
        } else {
            GC_alloc_lock();
            count(NULL);
            GC_alloc_unlock();
        }
        if (i % 64 == 0) memset(GC_malloc(100), 1, 100);
    }
    return argument;
}

/* Revealed under the lock, an object cannot die before it is in sight again. */
static void *weak;
static void *volatile strong;
static void *reveal(void *argument) {
    if (weak != NULL) strong = GC_REVEAL_POINTER(weak);
    return argument;
}
static void *look(void *argument) {
    for (int i = 0; i < 300; ++i) {
        GC_call_with_alloc_lock(reveal, NULL);
        void *object = strong;
        if (object != NULL)
            CHECK(*(GC_word *)object == pattern(3, 0), "a revealed object was reused while its link stood");
    }
    return argument;
}

NOINLINE static void make_weak(void) {
    GC_word *object = GC_malloc(40);
    object[0] = pattern(3, 0);
    weak = (void *)GC_HIDE_POINTER(object);
    GC_general_register_disappearing_link(&weak, object);
}

int main(void) {
    pthread_t threads[kThreads];
    GC_INIT();
    GC_allow_register_threads();
    for (int i = 0; i < kThreads; ++i) CHECK(pthread_create(&threads[i], NULL, thread, &threads[i]) == 0, "no thread");
    for (int i = 0; i < 10; ++i) GC_gcollect();
    for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
    CHECK(counter == (long)kThreads * kRounds, "%ld of %ld under the lock were counted", counter,
          (long)kThreads * kRounds);

    for (int round = 0; round < 10; ++round) {
        pthread_t looker;
        make_weak();
        CHECK(pthread_create(&looker, NULL, look, NULL) == 0, "no thread");
        for (int i = 0; i < 5; ++i) {
            strong = NULL;
            collect();
        }
        pthread_join(looker, NULL);
        strong = NULL;
        GC_unregister_disappearing_link(&weak);
    }

    /* Callers of the statistics hold the lock. */
    GC_alloc_lock();
    CHECK(GC_get_heap_size() != 0 && GC_get_gc_no() != 0, "statistics under the lock");
    GC_alloc_unlock();
    return 0;
}
