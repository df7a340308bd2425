/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: threads that allocate beside each other as much as GC_set_max_heap_size allows, many times over.
 * Invariant: no request is refused while nearly all of the heap is garbage.
 * Must not know: which of them collects.
 */
#define GC_THREADS
#include <gc.h>
#include <pthread.h>

#include "check.h"

enum { kThreads = 8, kLimit = 8 << 20, kEach = 96 << 20 };
static const size_t sizes[] = {64, 1000, 20000};
static int refused;

static void *refuse(size_t bytes) {
    (void)bytes;
    __atomic_fetch_add(&refused, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void *allocate(void *argument) {
    size_t size = *(const size_t *)argument;
    for (size_t bytes = 0; bytes < kEach / kThreads; bytes += size) {
        char *volatile object = GC_malloc(size);
        if (object != NULL) *object = 1;
    }
    return NULL;
}

int main(void) {
    GC_INIT();
    GC_set_warn_proc(GC_ignore_warn_proc);
    GC_set_oom_fn(refuse);
    GC_set_max_heap_size(kLimit);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
        pthread_t threads[kThreads];
        for (int i = 0; i < kThreads; ++i)
            CHECK(pthread_create(&threads[i], NULL, allocate, (void *)&sizes[s]) == 0, "no thread");
        for (int i = 0; i < kThreads; ++i) CHECK(pthread_join(threads[i], NULL) == 0, "pthread_join failed");
        CHECK(refused == 0, "%d requests for %zu bytes were refused", refused, sizes[s]);
    }
    return 0;
}
