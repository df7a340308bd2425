/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: a thread that runs one function after the other as it is told, and stands still otherwise.
 * Invariant: helper_do returns when the function has returned and the thread waits again.
 * Must not know: what the functions do.
 *
 * To make the thread known to the collector, define GC_THREADS before gc.h, or let the first function register it.
 */
#ifndef LIBGC_HELPER_H
#define LIBGC_HELPER_H

#include <pthread.h>
#include <semaphore.h>

#include "check.h"

struct helper {
    pthread_t id;
    sem_t told, done;
    void (*function)(void *);
    void *argument;
};

UNUSED static void wait_for(sem_t *semaphore) {
    while (sem_wait(semaphore) != 0) continue; /* a signal stopped it */
}

UNUSED static void *helper_main(void *argument) {
    struct helper *helper = (struct helper *)argument;
    for (;;) {
        wait_for(&helper->told);
        if (helper->function == NULL) return NULL;
        helper->function(helper->argument);
        sem_post(&helper->done);
    }
}

UNUSED static void helper_init(struct helper *helper) {
    sem_init(&helper->told, 0, 0);
    sem_init(&helper->done, 0, 0);
}

UNUSED static void helper_start(struct helper *helper) {
    helper_init(helper);
    CHECK(pthread_create(&helper->id, NULL, helper_main, helper) == 0, "no thread");
}

UNUSED static void helper_do(struct helper *helper, void (*function)(void *), void *argument) {
    helper->function = function;
    helper->argument = argument;
    sem_post(&helper->told);
    wait_for(&helper->done);
}

UNUSED static void helper_end(struct helper *helper) {
    helper->function = NULL;
    sem_post(&helper->told);
    CHECK(pthread_join(helper->id, NULL) == 0, "pthread_join failed");
}

#endif
