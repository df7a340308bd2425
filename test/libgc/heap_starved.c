/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: how far the heap grows while the collecting thread cannot go on: a callback holds it, another thread has the
 *    loader's list of libraries, or another thread has the collector's lock.
 * Invariant: nothing is alive, and the heap stays below four times what it had when nothing held the collecting thread.
 *    A thread that has the list of libraries gets memory all the same, for the collecting thread waits for it.
 * Must not know: how threads wait.
 */
#define GC_THREADS
#include <gc.h>
#include <link.h>
#include <time.h>

#include "check.h"

enum { kThreads = 16, kQuiet = 12, kHolds = 4, kRounds = 20, kBlocks = 300, kTimes = 4 };

static volatile int end;
static volatile size_t quiet, holds;
static int is_bdwgc;

static void *allocate(void *argument) {
    for (unsigned i = 0; !end; ++i) {
        GC_malloc(48);
        if (i % 64 == 0) GC_malloc_atomic(3000);
        if (i % 1024 == 0) GC_malloc(100000);
    }
    return argument;
}

/* The threads have time to allocate, if anything lets them. */
static void hold(void) {
    struct timespec moment = {0, 10000000};
    for (int i = 0; i < kRounds; ++i) {
        nanosleep(&moment, NULL);
        size_t heap = GC_get_heap_size();
        CHECK(heap <= kTimes * quiet, "a heap of %zu bytes, %zu when nothing held the collecting thread", heap, quiet);
    }
    ++holds;
}

static void learn_quiet(GC_EventType event) {
    size_t heap = GC_get_heap_size();
    if (event == GC_EVENT_START && heap > quiet) quiet = heap;
}
static void hold_collection(GC_EventType event) {
    if (event == GC_EVENT_START && holds < kHolds) hold();
}
static int hold_list(struct dl_phdr_info *info, size_t size, void *argument) {
    (void)info, (void)size, (void)argument;
    for (int i = 0; i < kBlocks && !is_bdwgc; ++i) CHECK(GC_malloc(1000) != NULL, "no memory");
    hold();
    return 1;
}
static void *hold_lock(void *argument) {
    hold();
    return argument;
}

static void let_collect(GC_word collections) {
    for (GC_word last = GC_get_gc_no() + collections; GC_get_gc_no() < last;) GC_malloc(1000);
}

int main(void) {
    pthread_t threads[kThreads];
    GC_INIT();
    is_bdwgc = skip_on_bdwgc("memory for who has the list of libraries");
    for (int i = 0; i < kThreads; ++i) CHECK(pthread_create(&threads[i], NULL, allocate, NULL) == 0, "no thread");
    GC_set_on_collection_event(learn_quiet);
    let_collect(kQuiet);
    GC_set_on_collection_event(hold_collection);
    let_collect(kHolds / 2);
    while (holds < kHolds) GC_gcollect();
    GC_set_on_collection_event(NULL);
    for (int i = 0; i < kHolds; ++i) {
        dl_iterate_phdr(hold_list, NULL);
        let_collect(1);
    }
    for (int i = 0; i < kHolds; ++i) {
        GC_call_with_alloc_lock(hold_lock, NULL);
        let_collect(1);
    }
    end = 1;
    for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
    return 0;
}
