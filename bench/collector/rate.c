/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: threads that allocate blocks of one size, as fast as they can, and forget or free them.
 * Invariant: all threads begin at once; the blocks are as many whatever the number of threads.
 * Must not know: which collector, or which malloc, it runs on.
 */
/* usage: rate forget|free|malloc SIZE THREADS     prints millions of blocks a second */
#define GC_THREADS
#include <gc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kMostThreads = 256 };

static const long kBytes = 1l << 30;
static const long kMostBlocks = 16000000;

static size_t size;
static long each;
static char way;
static pthread_barrier_t start;

static void *run(void *argument) {
    pthread_barrier_wait(&start);
    for (long i = 0; i < each; ++i) {
        volatile char *block = way == 'm' ? malloc(size) : GC_malloc(size);
        if (block == NULL) abort();
        *block = 1;
        if (way == 'm') free((void *)block);
        if (way == 'r') GC_free((void *)block);
    }
    return argument;
}

int main(int argc, char **argv) {
    pthread_t threads[kMostThreads];
    struct timespec begin, end;
    long count = argc > 3 ? strtol(argv[3], NULL, 10) : 0;
    size = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    if (count < 1 || count > kMostThreads || size == 0) {
        fprintf(stderr, "usage: rate forget|free|malloc SIZE THREADS\n");
        return 2;
    }
    way = strcmp(argv[1], "malloc") == 0 ? 'm' : strcmp(argv[1], "free") == 0 ? 'r' : 'f';
    long blocks = kBytes / (long)size < kMostBlocks ? kBytes / (long)size : kMostBlocks;
    each = blocks / count;
    GC_INIT();
    pthread_barrier_init(&start, NULL, (unsigned)count + 1);
    for (long i = 0; i < count; ++i)
        if (pthread_create(&threads[i], NULL, run, NULL) != 0) return 1;
    pthread_barrier_wait(&start);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (long i = 0; i < count; ++i) pthread_join(threads[i], NULL);
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    printf("%.2f\n", (double)(each * count) / seconds * 1e-6);
    return 0;
}
