/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: a thread that is stopped in a signal handler on an alternate stack, which may lie in a frame of its own
 *    stack: frames there, and below on its own stack.
 * Invariant: the place named is the only one that keeps the objects; cleared, it keeps them no more.
 * Must not know: how a collector learns where a stack is.
 */
#define GC_THREADS
#include <gc.h>
#include <signal.h>

#include "watched.h"

enum { kStack = 262144 };
static struct watched below[kPlaces], above[kPlaces];
static char outside[kStack] __attribute__((aligned(4096)));
static int is_within; /* its own stack */
static sem_t ready, go_on;
static int is_told; /* whether the collector is told of the stack */

static void handle(int number) {
    void *volatile places[kPlaces];
    (void)number;
    fill(places, above, kPlaces);
    scrub();
    sem_post(&ready);
    wait_for(&go_on);
    wipe(places, kPlaces);
    scrub();
}

NOINLINE static void run_on(char *alternate) {
    void *volatile places[kPlaces];
    stack_t stack = {.ss_sp = alternate, .ss_size = kStack};
    CHECK(sigaltstack(&stack, NULL) == 0, "sigaltstack failed");
    if (is_told) {
        pthread_attr_t attributes;
        void *low;
        size_t size;
        CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0, "no attributes");
        pthread_attr_getstack(&attributes, &low, &size);
        pthread_attr_destroy(&attributes);
        GC_register_altstack(low, size, alternate, kStack);
    }
    fill(places, below, kPlaces);
    scrub();
    pthread_kill(pthread_self(), SIGUSR1);
    wipe(places, kPlaces);
    scrub();
    sem_post(&ready);
    wait_for(&go_on);
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, NULL);
}

static void *thread(void *argument) {
    char within[kStack];
    run_on(is_within ? within : outside);
    return argument;
}

static void check(void) {
    pthread_t id;
    CHECK(pthread_create(&id, NULL, thread, NULL) == 0, "no thread");
    wait_for(&ready);
    collect();
    expect_kept(above, kPlaces, is_told ? "frames on a registered alternate stack" : "frames on an alternate stack");
    if (!skip_on_bdwgc("frames below a handler on an alternate stack"))
        expect_kept(below, kPlaces, "frames below a handler on an alternate stack");
    sem_post(&go_on);
    wait_for(&ready);
    collect();
    expect_half_dead(above, kPlaces, "frames of a handler that has returned");
    expect_half_dead(below, kPlaces, "frames below a handler that has returned");
    forget(above, kPlaces);
    forget(below, kPlaces);
    sem_post(&go_on);
    CHECK(pthread_join(id, NULL) == 0, "pthread_join failed");
}

int main(void) {
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    GC_INIT();
    /* It is static here, so it must not count as static data. */
    GC_exclude_static_roots(outside, outside + kStack);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0, "sigaction failed");
    sem_init(&ready, 0, 0);
    sem_init(&go_on, 0, 0);
    is_told = 1;
    check();
    is_told = 0;
    if (skip_on_bdwgc("an alternate stack it was not told of")) return 0;
    check();
    is_within = 1;
    check();
    return 0;
}
