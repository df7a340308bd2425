/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: stopping one thread, or all the others, from outside.
 * Invariant: a stopped thread does nothing, keeps what it refers to, and goes on afterwards.
 * Must not know: by which signal.
 */
#define GC_THREADS
#include <gc.h>
#include <gc/javaxfc.h>
#include <sched.h>

#include "watched.h"

static volatile unsigned long steps;
static volatile int end;
static struct watched watched[kPlaces];

static void *walk(void *argument) {
    void *volatile places[kPlaces];
    fill(places, watched, kPlaces);
    while (!end) ++steps;
    wipe(places, kPlaces);
    return argument;
}

static void expect_moving(void) {
    for (unsigned long before = steps; steps == before;) sched_yield(); /* hangs if it never does */
}
static void expect_standing(const char *when) {
    unsigned long before = steps;
    for (int i = 0; i < 200; ++i) sched_yield();
    CHECK(steps == before, "a thread went on %s", when);
}

static void *leave(void *argument) {
    *(volatile int *)argument = 1;
    return argument;
}
/* The suspending thread does not know whether it still runs or has ended. */
static void check_ended(void) {
    for (int round = 0; round < 200; ++round) {
        volatile int has_run = 0;
        pthread_t id;
        CHECK(pthread_create(&id, NULL, leave, (void *)&has_run) == 0, "no thread");
        for (int i = 0; i < round && !has_run; ++i) sched_yield();
        for (int i = 0; i < round / 2; ++i) sched_yield();
        GC_suspend_thread(id);
        CHECK(GC_is_thread_suspended(id), "a thread that may have ended is not suspended");
        GC_suspend_thread(id);
        if (round % 50 == 0) collect();
        GC_resume_thread(id);
        CHECK(!GC_is_thread_suspended(id), "a thread that may have ended is not resumed");
        CHECK(pthread_join(id, NULL) == 0, "pthread_join failed");
    }
}

/* Others begin threads meanwhile, which get the ids of those that were joined. */
static void *check_ended_among_others(void *argument) {
    check_ended();
    return argument;
}
static void check_several(void) {
    pthread_t others[4];
    for (int i = 0; i < 4; ++i)
        CHECK(pthread_create(&others[i], NULL, check_ended_among_others, NULL) == 0, "no thread");
    for (int i = 0; i < 4; ++i) CHECK(pthread_join(others[i], NULL) == 0, "pthread_join failed");
}

int main(void) {
    pthread_t id;
    GC_INIT();
    CHECK(pthread_create(&id, NULL, walk, NULL) == 0, "no thread");
    expect_moving();
    for (int round = 0; round < 10; ++round) {
        CHECK(!GC_is_thread_suspended(id), "a thread that moves is suspended");
        GC_suspend_thread(id);
        CHECK(GC_is_thread_suspended(id), "a suspended thread is not");
        expect_standing("while suspended");
        GC_suspend_thread(id); /* does not count */
        collect();
        expect_kept(watched, kPlaces, "the stack of a suspended thread");
        expect_standing("after a collection while suspended");
        GC_resume_thread(id);
        CHECK(!GC_is_thread_suspended(id), "a resumed thread is suspended");
        expect_moving();
        collect();
        expect_moving();

        GC_stop_world_external();
        unsigned long before = steps;
        for (int i = 0; i < 200; ++i) sched_yield();
        unsigned long after = steps;
        GC_start_world_external();
        CHECK(before == after, "a thread went on in the stopped world");
        expect_moving();
    }
    GC_suspend_thread(id);
    GC_resume_thread(id);
    end = 1;
    CHECK(pthread_join(id, NULL) == 0, "pthread_join failed");
    collect();
    expect_half_dead(watched, kPlaces, "a thread that has ended");
    check_ended();
    check_several();
    return 0;
}
