/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: the mark table alone: threads mark the blocks of a table, as a bit or as a byte, in order or at random.
 * Invariant: each way tests before it writes, as a marker does; at the end all is marked. A byte is written to by a
 *    plain store, a bit by compare-and-swap or by fetch-or; a bit by a plain store is for one thread.
 * Must not know: any collector.
 */
/* usage: marks byte|swap|or|plain ordered|shuffled [THREADS [BLOCKS]]     prints nanoseconds of CPU time for a mark */
/* valgrind --tool=callgrind --toggle-collect=by_* counts the instructions of marking alone */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kMostThreads = 16, kBits = 64 };

struct part {
    const uint32_t *blocks;
    size_t count;
};

static atomic_uchar *bytes;
static _Atomic uint64_t *words;
static void (*mark_all)(const struct part *);
static pthread_barrier_t start;

static void by_byte(const struct part *part) {
    for (size_t i = 0; i < part->count; ++i) {
        atomic_uchar *mark = &bytes[part->blocks[i]];
        if (atomic_load_explicit(mark, memory_order_relaxed) == 0) atomic_store_explicit(mark, 1, memory_order_relaxed);
    }
}

static void by_plain_bit(const struct part *part) {
    for (size_t i = 0; i < part->count; ++i) {
        _Atomic uint64_t *word = &words[part->blocks[i] / kBits];
        uint64_t old = atomic_load_explicit(word, memory_order_relaxed), bit = 1ull << part->blocks[i] % kBits;
        if ((old & bit) == 0) atomic_store_explicit(word, old | bit, memory_order_relaxed);
    }
}

static void by_swap(const struct part *part) {
    for (size_t i = 0; i < part->count; ++i) {
        _Atomic uint64_t *word = &words[part->blocks[i] / kBits];
        uint64_t old = atomic_load_explicit(word, memory_order_relaxed), bit = 1ull << part->blocks[i] % kBits;
        while ((old & bit) == 0 && !atomic_compare_exchange_weak_explicit(word, &old, old | bit, memory_order_relaxed,
                                                                          memory_order_relaxed)) {
        }
    }
}

static void by_or(const struct part *part) {
    for (size_t i = 0; i < part->count; ++i) {
        _Atomic uint64_t *word = &words[part->blocks[i] / kBits];
        uint64_t bit = 1ull << part->blocks[i] % kBits;
        if ((atomic_load_explicit(word, memory_order_relaxed) & bit) == 0)
            atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
    }
}

static void *run(void *part) {
    pthread_barrier_wait(&start);
    mark_all(part);
    return NULL;
}

static void shuffle(uint32_t *blocks, size_t count) {
    uint64_t state = 1;
    for (size_t i = count - 1; i > 0; --i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        size_t j = (size_t)(state >> 33) % (i + 1);
        uint32_t other = blocks[j];
        blocks[j] = blocks[i];
        blocks[i] = other;
    }
}

static size_t marked(size_t count) {
    size_t all = 0;
    for (size_t i = 0; i < count; ++i) all += mark_all == by_byte ? bytes[i] : (words[i / kBits] >> i % kBits) & 1;
    return all;
}

static void *some(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (memory == NULL) exit(1);
    memset(memory, 0, count * size); /* no page is new while the clock runs */
    return memory;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*mark_all)(const struct part *);
    } ways[] = {{"byte", by_byte}, {"swap", by_swap}, {"or", by_or}, {"plain", by_plain_bit}};
    pthread_t threads[kMostThreads];
    struct part parts[kMostThreads];
    struct timespec begin, end;
    for (size_t i = 0; argc > 2 && i < sizeof ways / sizeof *ways; ++i)
        if (strcmp(argv[1], ways[i].name) == 0) mark_all = ways[i].mark_all;
    size_t thread_count = argc > 3 ? strtoul(argv[3], NULL, 10) : 1;
    size_t count = argc > 4 ? strtoul(argv[4], NULL, 10) : 32000000;
    if (mark_all == NULL || thread_count < 1 || thread_count > kMostThreads || count == 0 || count > UINT32_MAX ||
        (mark_all == by_plain_bit && thread_count > 1)) {
        fprintf(stderr, "usage: marks byte|swap|or|plain ordered|shuffled [THREADS [BLOCKS]], plain for one thread\n");
        return 2;
    }
    bytes = some(count, sizeof *bytes);
    words = some(count / kBits + 1, sizeof *words);
    uint32_t *blocks = some(count, sizeof *blocks);
    for (size_t i = 0; i < count; ++i) blocks[i] = (uint32_t)i;
    if (strcmp(argv[2], "shuffled") == 0) shuffle(blocks, count);
    pthread_barrier_init(&start, NULL, (unsigned)thread_count + 1);
    for (size_t i = 0; i < thread_count; ++i) {
        size_t first = count * i / thread_count;
        parts[i] = (struct part){blocks + first, count * (i + 1) / thread_count - first};
        if (pthread_create(&threads[i], NULL, run, &parts[i]) != 0) return 1;
    }
    pthread_barrier_wait(&start);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    for (size_t i = 0; i < thread_count; ++i) pthread_join(threads[i], NULL);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    if (marked(count) != count) return 1;
    printf("%.3f\n",
           ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / (double)count);
    return 0;
}
