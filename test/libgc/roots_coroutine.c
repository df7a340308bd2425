/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: a coroutine on a stack of its own: the stack bottom moved there and back, resting stacks pushed by a
 *    callback.
 * Invariant: what runs is scanned from the bottom that was set; what rests, because the callback says so.
 * Must not know: how a stack is scanned.
 */
#define GC_THREADS
#include <gc.h>
#include <gc/gc_mark.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "watched.h"

enum { kStack = 262144 };
static struct watched in_main[kPlaces], in_coroutine[kPlaces];
static ucontext_t main_context, context;
static char *stack;
static struct GC_stack_base main_bottom;
static void *handle;
static char *resting_low, *resting_high; /* what the callback is to push */
static void (*others)(void);

static void push(void) {
    if (resting_low != NULL) GC_push_all_eager(resting_low, resting_high);
    others();
}

static void *set_bottom(void *bottom) {
    GC_set_stackbottom(handle, bottom);
    return NULL;
}

/* The collector is told of the new bottom and of what now rests; swapcontext saves the registers in the context. */
NOINLINE static void switch_to(ucontext_t *from, ucontext_t *to, char *bottom, char *rests_to) {
    struct GC_stack_base base = {bottom};
    volatile char here = 0;
    GC_disable();
    resting_low = (char *)((uintptr_t)&here & ~(uintptr_t)15) - 256;
    resting_high = rests_to;
    GC_call_with_alloc_lock(set_bottom, &base);
    swapcontext(from, to);
    GC_enable();
}

static void coroutine(void) {
    void *volatile places[kPlaces];
    GC_enable();
    fill(places, in_coroutine, kPlaces);
    collect();
    expect_kept(in_coroutine, kPlaces, "frames of the running coroutine");
    expect_kept(in_main, kPlaces, "frames of main, which rests");
    switch_to(&context, &main_context, main_bottom.mem_base, stack + kStack);
    wipe(places, kPlaces);
    collect();
    expect_half_dead(in_coroutine, kPlaces, "cleared frames of the running coroutine");
    for (;;) switch_to(&context, &main_context, main_bottom.mem_base, stack + kStack);
}

int main(void) {
    void *volatile places[kPlaces];
    GC_INIT();
    GC_allow_register_threads();
    stack = mmap(NULL, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(stack != MAP_FAILED, "no memory");
    handle = GC_get_my_stackbottom(&main_bottom);
    CHECK(handle != NULL && main_bottom.mem_base != NULL, "no stack bottom");
    others = GC_get_push_other_roots();
    CHECK(others != NULL, "no default for the roots callback");
    GC_set_push_other_roots(push);
    getcontext(&context);
    context.uc_stack.ss_sp = stack;
    context.uc_stack.ss_size = kStack;
    context.uc_link = &main_context;
    makecontext(&context, coroutine, 0);

    fill(places, in_main, kPlaces);
    switch_to(&main_context, &context, stack + kStack, main_bottom.mem_base);
    collect();
    expect_kept(in_main, kPlaces, "frames of main, which runs again");
    expect_kept(in_coroutine, kPlaces, "frames of the resting coroutine");
    switch_to(&main_context, &context, stack + kStack, main_bottom.mem_base);
    struct GC_stack_base base;
    CHECK(GC_get_my_stackbottom(&base) == handle && base.mem_base == main_bottom.mem_base,
          "the stack bottom is not where it was set");
    wipe(places, kPlaces);
    collect();
    expect_half_dead(in_main, kPlaces, "cleared frames of main");
    return 0;
}
