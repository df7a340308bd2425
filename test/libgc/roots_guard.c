/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: stacks with a guard inside a mapping, which the list of mappings does not show: a coroutine's below
 *    another's, and a thread's own while it is in a handler on an alternate stack.
 * Invariant: the place named is the only one that keeps the objects; cleared, it keeps them no more. Reading a
 *    guard ends the process.
 * Must not know: how a collector learns what it may read.
 */
#define GC_THREADS
#include <gc.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "watched.h"

enum { kStack = 262144, kPage = 4096, kGuard = 102 /* MADV_GUARD_INSTALL */ };
static struct watched frames[kPlaces];
static sem_t ready, go_on;

/* Each with a guard in its lowest page. */
static char *two_stacks(void) {
    char *stacks = mmap(NULL, 2 * kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(stacks != MAP_FAILED, "no memory");
    for (int i = 0; i < 2; ++i) {
        stacks[i * kStack] = 1;
        if (madvise(stacks + i * kStack, kPage, kGuard) != 0) not_available("MADV_GUARD_INSTALL");
    }
    return stacks;
}

NOINLINE static void keep_and_wait(void) {
    void *volatile places[kPlaces];
    fill(places, frames, kPlaces);
    scrub();
    sem_post(&ready);
    wait_for(&go_on);
    wipe(places, kPlaces);
}

static void expect_found(const char *what) {
    wait_for(&ready);
    collect();
    expect_kept(frames, kPlaces, what);
    sem_post(&go_on);
    wait_for(&ready);
    collect();
    expect_half_dead(frames, kPlaces, what);
    forget(frames, kPlaces);
    sem_post(&go_on);
}

static ucontext_t thread_context, context;

static void *in_coroutine(void *stack) {
    getcontext(&context);
    context.uc_stack.ss_sp = stack;
    context.uc_stack.ss_size = kStack;
    context.uc_link = &thread_context;
    makecontext(&context, keep_and_wait, 0);
    swapcontext(&thread_context, &context);
    sem_post(&ready);
    wait_for(&go_on);
    return NULL;
}

static char alternate[kStack] __attribute__((aligned(4096)));

static void handle(int number) {
    (void)number;
    sem_post(&ready);
    wait_for(&go_on);
}

NOINLINE static void keep_below_handler(void) {
    void *volatile places[kPlaces];
    fill(places, frames, kPlaces);
    scrub();
    pthread_kill(pthread_self(), SIGUSR1);
    wipe(places, kPlaces);
}

static void *below_handler(void *argument) {
    stack_t stack = {.ss_sp = alternate, .ss_size = kStack};
    CHECK(sigaltstack(&stack, NULL) == 0, "sigaltstack failed");
    keep_below_handler();
    scrub();
    sem_post(&ready);
    wait_for(&go_on);
    return argument;
}

int main(void) {
    exit_on_bdwgc("stacks that it was not told of");
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    pthread_attr_t attributes;
    pthread_t id;
    GC_INIT();
    GC_exclude_static_roots(alternate, alternate + kStack);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0, "sigaction failed");
    sem_init(&ready, 0, 0);
    sem_init(&go_on, 0, 0);

    CHECK(pthread_create(&id, NULL, in_coroutine, two_stacks()) == 0, "no thread");
    expect_found("frames of a coroutine");
    CHECK(pthread_join(id, NULL) == 0, "pthread_join failed");

    pthread_attr_init(&attributes);
    CHECK(pthread_attr_setstack(&attributes, two_stacks(), 2 * kStack) == 0, "no such stack");
    CHECK(pthread_create(&id, &attributes, below_handler, NULL) == 0, "no thread");
    expect_found("frames below a handler");
    CHECK(pthread_join(id, NULL) == 0, "pthread_join failed");
    pthread_attr_destroy(&attributes);
    return 0;
}
