/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: threads: wrapped creation, results, exit, cancelling, detaching; the registration of those that libc made.
 * Invariant: after a thread has gone by whatever way, its memory is in order and collections go on.
 * Must not know: how threads are found.
 */
#define GC_THREADS
#include <gc.h>
#include <sched.h>
#include <signal.h>

#include "watched.h"

static void expect_collections(const char *after) {
    GC_word before = GC_get_gc_no();
    GC_gcollect();
    CHECK(GC_get_gc_no() > before, "no collection after %s", after);
}

static void *returns(void *argument) {
    CHECK(GC_thread_is_registered(), "a wrapped thread is not registered");
    memset(GC_malloc(1000), 1, 1000);
    return argument;
}
static void *exits(void *argument) {
    memset(GC_malloc(1000), 1, 1000);
    pthread_exit(argument);
}
static int never_written[2];
static void *waits(void *argument) {
    char byte;
    memset(GC_malloc(1000), 1, 1000);
    while (read(never_written[0], &byte, 1) != 1) continue;
    return argument;
}
static sem_t ended;
static void *detached(void *argument) {
    memset(GC_malloc(1000), 1, 1000);
    sem_post(&ended);
    return argument;
}

static pthread_t start(void *(*function)(void *), void *argument) {
    pthread_t id;
    CHECK(pthread_create(&id, NULL, function, argument) == 0, "no thread");
    return id;
}

static void check_ways_to_end(void) {
    void *result;
    int local;
    for (int i = 0; i < 20; ++i) {
        CHECK(pthread_join(start(returns, &local), &result) == 0 && result == &local, "a returned result");
        CHECK(pthread_join(start(exits, &local), &result) == 0 && result == &local, "a result of pthread_exit");
    }
    expect_collections("pthread_exit");
    pthread_t id = start(waits, NULL);
    CHECK(pthread_cancel(id) == 0, "pthread_cancel failed");
    CHECK(pthread_join(id, &result) == 0 && result == PTHREAD_CANCELED, "a cancelled thread has another result");
    expect_collections("pthread_cancel");

    CHECK(pthread_detach(start(detached, NULL)) == 0, "pthread_detach failed");
    wait_for(&ended);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    CHECK(pthread_create(&id, &attributes, detached, NULL) == 0, "no detached thread");
    pthread_attr_destroy(&attributes);
    wait_for(&ended);
    expect_collections("detached threads");
}

static void check_signals(void) {
    sigset_t all, now;
    sigfillset(&all);
    CHECK(pthread_sigmask(SIG_BLOCK, &all, NULL) == 0, "pthread_sigmask failed");
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    CHECK(!sigismember(&now, GC_get_suspend_signal()), "the signal that stops threads is blocked");
    CHECK(sigismember(&now, SIGUSR1), "another signal is not blocked");
    pthread_sigmask(SIG_UNBLOCK, &all, NULL);
}

/* A thread of libc's, that registers itself, also in the destructor of a key when it was unregistered already. */
#undef pthread_create
#undef pthread_join
static pthread_key_t key;
static int destroyed;

static void register_here(void) {
    struct GC_stack_base base;
    CHECK(GC_get_stack_base(&base) == GC_SUCCESS, "no stack base");
    CHECK(GC_register_my_thread(&base) == GC_SUCCESS, "a thread was not registered");
}
static void destroy(void *value) {
    CHECK(!GC_thread_is_registered(), "still registered");
    register_here();
    for (int i = 0; i < 100; ++i) memset(GC_malloc(500), 1, 500);
    GC_gcollect();
    CHECK(GC_unregister_my_thread() == GC_SUCCESS, "not unregistered in a destructor");
    __atomic_fetch_add(&destroyed, value == &key, __ATOMIC_RELAXED);
}
static void *foreign(void *argument) {
    CHECK(!GC_thread_is_registered(), "a thread of libc's is registered");
    register_here();
    pthread_setspecific(key, &key);
    for (int i = 0; i < 1000; ++i) memset(GC_malloc(100), 1, 100);
    CHECK(GC_unregister_my_thread() == GC_SUCCESS, "not unregistered");
    return argument;
}

static void check_foreign(void) {
    pthread_t ids[4];
    CHECK(pthread_key_create(&key, destroy) == 0, "no key");
    for (int round = 0; round < 5; ++round) {
        for (int i = 0; i < 4; ++i) CHECK(pthread_create(&ids[i], NULL, foreign, NULL) == 0, "no thread");
        expect_collections("threads of libc's were made");
        for (int i = 0; i < 4; ++i) CHECK(pthread_join(ids[i], NULL) == 0, "pthread_join failed");
    }
    CHECK(destroyed == 20, "%d of 20 destructors ran", destroyed);
}

static void *with_base(struct GC_stack_base *base, void *argument) {
    volatile char here = 0;
    CHECK((char *)base->mem_base > (char *)&here, "the stack base is below");
    CHECK((char *)base->mem_base - (char *)&here < 4096, "the stack base is far away");
    return argument;
}

int main(void) {
    GC_INIT();
    GC_allow_register_threads();
    GC_allow_register_threads(); /* again: nothing */
    CHECK(GC_thread_is_registered(), "main is not registered");
    sem_init(&ended, 0, 0);
    CHECK(pipe(never_written) == 0, "no pipe");
    CHECK(GC_call_with_stack_base(with_base, &ended) == &ended, "GC_call_with_stack_base gave another result");
    check_ways_to_end();
    check_signals();
    check_foreign();
    GC_start_mark_threads();
    CHECK(GC_get_parallel() == GC_parallel, "variable and function differ: GC_parallel");
    expect_collections("all this");
    return 0;
}
