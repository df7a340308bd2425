/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: frames of a thread that waits in the kernel or inside GC_do_blocking, and on the way back from there.
 * Invariant: the place named is the only one that keeps the objects; cleared, it keeps them no more.
 * Must not know: whether a thread that waits is stopped.
 */
#define GC_THREADS
#include <gc.h>
#include <poll.h>
#include <signal.h>

#include "watched.h"

static struct watched watched[kPlaces], inner[kPlaces];
static int told[2], done[2]; /* pipes */
static sem_t semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int may_go;

static void say(int pipe[2]) { CHECK(write(pipe[1], "", 1) == 1, "write failed"); }
static void hear(int pipe[2]) {
    char byte;
    while (read(pipe[0], &byte, 1) != 1) continue; /* interrupted */
}

static void *by_read(void *argument) {
    hear(told);
    return argument;
}
static void *by_semaphore(void *argument) {
    wait_for(&semaphore);
    return argument;
}
static void *by_condition(void *argument) {
    pthread_mutex_lock(&mutex);
    while (!may_go) pthread_cond_wait(&changed, &mutex);
    may_go = 0;
    pthread_mutex_unlock(&mutex);
    return argument;
}
static void *by_poll(void *argument) {
    struct pollfd wanted = {told[0], POLLIN, 0};
    while (poll(&wanted, 1, -1) != 1) continue;
    return by_read(argument);
}
static void *by_signal(void *argument) {
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGUSR2);
    while (sigwaitinfo(&wanted, NULL) != SIGUSR2) continue;
    return argument;
}
static void *in_blocking(void *argument) {
    CHECK(GC_do_blocking(by_read, &told) == &told, "GC_do_blocking gave another result");
    return argument;
}

NOINLINE static void *wait_in_frame(void *argument) {
    void *volatile places[kPlaces];
    fill(places, inner, kPlaces);
    scrub();
    by_read(argument);
    wipe(places, kPlaces);
    return argument;
}
static void *call_active(void *argument) { return GC_call_with_gc_active(wait_in_frame, argument); }
static void *in_active(void *argument) { return GC_do_blocking(call_active, argument); }

static void *thread(void *way) {
    void *volatile places[kPlaces];
    fill(places, watched, kPlaces);
    scrub();
    (*(void *(**)(void *))way)(NULL);
    wipe(places, kPlaces);
    scrub();
    say(done);
    by_read(NULL);
    return NULL;
}

static void let_go(pthread_t id, void *(*way)(void *)) {
    if (way == by_semaphore) {
        sem_post(&semaphore);
    } else if (way == by_condition) {
        pthread_mutex_lock(&mutex);
        may_go = 1;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&mutex);
    } else if (way == by_signal) {
        pthread_kill(id, SIGUSR2);
    } else {
        say(told);
    }
}

/* It blocks sooner or later; whether it has when the collection begins makes no difference to what must be kept. */
static void check(const char *what, void *(*way)(void *)) {
    pthread_t id;
    int nested = way == in_active;
    memset(watched, 0, sizeof watched);
    memset(inner, 0, sizeof inner);
    CHECK(pthread_create(&id, NULL, thread, &way) == 0, "no thread");
    while (!is_alive(&(nested ? inner : watched)[kPlaces - 1])) sched_yield();
    for (int i = 0; i < 20; ++i) sched_yield();
    collect();
    expect_kept(watched, kPlaces, what);
    if (nested) expect_kept(inner, kPlaces, "a frame inside GC_call_with_gc_active");
    let_go(id, way);
    hear(done);
    collect();
    expect_half_dead(watched, kPlaces, what);
    if (nested) expect_half_dead(inner, kPlaces, "a frame inside GC_call_with_gc_active");
    forget(watched, kPlaces);
    if (nested) forget(inner, kPlaces);
    say(told);
    CHECK(pthread_join(id, NULL) == 0, "pthread_join failed");
}

int main(void) {
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    GC_INIT();
    CHECK(pipe(told) == 0 && pipe(done) == 0 && sem_init(&semaphore, 0, 0) == 0, "no pipe");
    check("a thread in read", by_read);
    check("a thread in sem_wait", by_semaphore);
    check("a thread in pthread_cond_wait", by_condition);
    check("a thread in poll", by_poll);
    check("a thread in sigwaitinfo", by_signal);
    check("a thread in GC_do_blocking", in_blocking);
    check("a thread in GC_call_with_gc_active in GC_do_blocking", in_active);
    return 0;
}
