/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: a coroutine on a stack that was allocated here, with other blocks above it.
 * Invariant: its frames keep objects; blocks that lie above it keep none when nothing points to them.
 * Must not know: how a collector learns where a stack ends.
 */
#define GC_THREADS
#include <gc.h>
#include <ucontext.h>

#include "watched.h"

enum { kStack = 262144, kAbove = 8 };
static struct watched in_frames[kPlaces], above[kPlaces];
static ucontext_t thread_context, context;
static sem_t ready, go_on;

/* Blocks of a stack's size, to which nothing points afterwards; as many as are wanted lie above it. */
NOINLINE static void fill_above(const char *stack) {
    int i = 0;
    for (int tries = 0; i < kPlaces && tries < 100; ++tries) {
        void *volatile *block = GC_malloc(kStack);
        CHECK(block != NULL, "no memory");
        if ((const char *)block < stack) continue;
        fill(block, &above[i], kPlaces / kAbove);
        i += kPlaces / kAbove;
    }
    if (i < kPlaces) not_available("a block above another");
    scrub();
}

NOINLINE static void keep_and_wait(void) {
    void *volatile places[kPlaces];
    fill(places, in_frames, kPlaces);
    scrub();
    sem_post(&ready);
    wait_for(&go_on);
    wipe(places, kPlaces);
}

static void *in_coroutine(void *stack) {
    getcontext(&context);
    context.uc_stack.ss_sp = stack;
    context.uc_stack.ss_size = kStack;
    context.uc_link = &thread_context;
    makecontext(&context, keep_and_wait, 0);
    swapcontext(&thread_context, &context);
    return NULL;
}

int main(void) {
    exit_on_bdwgc("a stack that it was not told of");
    pthread_t id;
    GC_INIT();
    sem_init(&ready, 0, 0);
    sem_init(&go_on, 0, 0);
    static char *stack; /* keeps it */
    stack = GC_malloc(kStack);
    CHECK(stack != NULL, "no memory");
    CHECK(pthread_create(&id, NULL, in_coroutine, stack) == 0, "no thread");
    wait_for(&ready);
    fill_above(stack);
    collect();
    expect_kept(in_frames, kPlaces, "frames on a stack that was allocated here");
    expect_half_dead(above, kPlaces, "blocks above a stack that was allocated here");
    sem_post(&go_on);
    CHECK(pthread_join(id, NULL) == 0, "pthread_join failed");
    collect();
    expect_half_dead(in_frames, kPlaces, "frames of a coroutine that has ended");
    stack = NULL;
    return 0;
}
