/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: threads that come and go while others collect, and hand objects to each other.
 * Invariant: each list is whole when its owner ends, and when another one has taken it over.
 * Must not know: how a thread is stopped.
 */
/* usage: thread_storm [rounds] */
#define GC_THREADS
#include <gc.h>
#include <sched.h>

#include "check.h"

enum { kThreads = 6, kSlots = 16, kLength = 300 };

struct cell {
    struct cell *next;
    GC_word number, check;
};

static struct cell *volatile slots[kSlots]; /* lists to be taken over */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int end;

static GC_word check_of(GC_word number) { return mixed(number) | (GC_word)0xfff0000000000000u; }

static struct cell *build(GC_word from) {
    struct cell *list = NULL;
    for (GC_word i = 0; i < kLength; ++i) {
        struct cell *cell = GC_malloc(i % 8 == 0 ? 200 + i : sizeof *cell);
        cell->next = list;
        cell->number = from + i;
        cell->check = check_of(from + i);
        list = cell;
        if (i % 16 == 0) memset(GC_malloc_atomic(3000), 0xff, 3000);
    }
    return list;
}

static void expect_list(const struct cell *list, const char *whose) {
    int n = 0;
    for (const struct cell *cell = list; cell != NULL; cell = cell->next, ++n)
        CHECK(cell->check == check_of(cell->number), "cell %d of %s list changed", n, whose);
    CHECK(n == kLength, "%s list has %d cells", whose, n);
}

static void work(uint64_t *random) {
    struct cell *mine = build(next_random(random) << 16);
    expect_list(mine, "its own");
    int slot = (int)(next_random(random) % kSlots);
    pthread_mutex_lock(&mutex);
    struct cell *taken = slots[slot];
    slots[slot] = mine;
    pthread_mutex_unlock(&mutex);
    mine = NULL;
    if (next_random(random) % 4 == 0) GC_gcollect();
    if (taken != NULL) expect_list(taken, "a taken");
}

static void *short_life(void *argument) {
    uint64_t random = (uint64_t)(uintptr_t)argument;
    work(&random);
    return build(1);
}

/* Made by libc, so it tells the collector itself. */
#undef pthread_create
#undef pthread_join
static void *registered_life(void *argument) {
    struct GC_stack_base base;
    uint64_t random = (uint64_t)(uintptr_t)argument;
    CHECK(GC_get_stack_base(&base) == GC_SUCCESS, "no stack base");
    for (int i = 0; i < 2; ++i) {
        CHECK(GC_register_my_thread(&base) == GC_SUCCESS, "not registered");
        work(&random);
        CHECK(GC_unregister_my_thread() == GC_SUCCESS, "not unregistered");
    }
    return NULL;
}

static void *collects(void *argument) {
    while (!end) {
        GC_gcollect();
        sched_yield();
    }
    return argument;
}

int main(int argc, char **argv) {
    long rounds = argument(argc, argv, 0, 60);
    pthread_t collector;
    GC_INIT();
    GC_allow_register_threads();
    CHECK(GC_pthread_create(&collector, NULL, collects, NULL) == 0, "no thread");
    for (long round = 0; round < rounds; ++round) {
        pthread_t wrapped[kThreads], plain[kThreads];
        for (int i = 0; i < kThreads; ++i) {
            void *seed = (void *)(uintptr_t)(round * 100 + i + 1);
            CHECK(GC_pthread_create(&wrapped[i], NULL, short_life, seed) == 0, "no thread");
            CHECK(pthread_create(&plain[i], NULL, registered_life, seed) == 0, "no thread");
        }
        for (int i = 0; i < kThreads; ++i) {
            void *result;
            CHECK(GC_pthread_join(wrapped[i], &result) == 0, "pthread_join failed");
            expect_list(result, "a returned");
            CHECK(pthread_join(plain[i], NULL) == 0, "pthread_join failed");
        }
    }
    end = 1;
    GC_pthread_join(collector, NULL);
    for (int i = 0; i < kSlots; ++i)
        if (slots[i] != NULL) expect_list(slots[i], "a left");
    return 0;
}
