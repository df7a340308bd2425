/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: a coroutine's stack in the middle of other memory, with its bottom told by GC_set_stackbottom; and a stack
 *    pointer that the client's function corrects.
 * Invariant: what lies above the bottom that was told keeps nothing.
 * Must not know: how far a stack is scanned otherwise.
 */
#define GC_THREADS
#include <gc.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "watched.h"

enum { kStack = 262144, kAbove = 65536 };
static struct watched in_coroutine[kPlaces], above[kPlaces], in_main[kPlaces];
static ucontext_t main_context, context;
static char *stack;
static void *handle;
static struct GC_stack_base main_bottom;
static const char *corrected_to;
static int corrections;

static void set_bottom(char *bottom) {
    struct GC_stack_base base = {bottom};
    GC_set_stackbottom(handle, &base);
}

static void coroutine(void) {
    void *volatile places[kPlaces];
    fill(places, in_coroutine, kPlaces);
    fill((void *volatile *)(stack + kStack), above, kPlaces);
    collect();
    expect_kept(in_coroutine, kPlaces, "frames of the coroutine");
    expect_half_dead(above, kPlaces, "what lies above the coroutine's stack");
    wipe(places, kPlaces);
    set_bottom(main_bottom.mem_base);
    setcontext(&main_context);
}

static void run_coroutine(void) {
    getcontext(&context);
    context.uc_stack.ss_sp = stack;
    context.uc_stack.ss_size = kStack;
    context.uc_link = NULL;
    makecontext(&context, coroutine, 0);
    set_bottom(stack + kStack);
    swapcontext(&main_context, &context);
    struct GC_stack_base base;
    CHECK(GC_get_my_stackbottom(&base) == handle && base.mem_base == main_bottom.mem_base,
          "the stack bottom is not where it was set");
}

/* Below, the stack is scanned from a place above the frame that holds the pointers, and then as it is. */
static void correct(void **stack_pointer, void *thread) {
    if (!pthread_equal((pthread_t)thread, pthread_self())) return;
    ++corrections;
    if (corrected_to != NULL) *stack_pointer = (void *)(uintptr_t)corrected_to;
}

typedef void (*corrector)(void **, void *);

NOINLINE static void collect_below(void) {
    void *volatile places[kPlaces];
    fill(places, in_main, kPlaces);
    collect();
    expect_kept(in_main, kPlaces, "frames of a thread whose stack pointer was not moved");
    corrected_to = main_bottom.mem_base;
    corrected_to -= sizeof(void *);
    collect();
    expect_half_dead(in_main, kPlaces, "frames below the corrected stack pointer");
    wipe(places, kPlaces);
}

static void check_corrector(void) {
    void (*set)(corrector);
    corrector (*get)(void);
    *(void **)&set = dlsym(RTLD_DEFAULT, "GC_set_sp_corrector");
    *(void **)&get = dlsym(RTLD_DEFAULT, "GC_get_sp_corrector");
    CHECK(set != NULL && get != NULL, "there is no GC_set_sp_corrector");
    CHECK(get() == NULL, "a corrector before one was set");
    set(correct);
    CHECK(get() == correct, "GC_get_sp_corrector gives another one");
    collect_below();
    CHECK(corrections >= 4, "%d corrections", corrections);
    set(NULL);
    corrections = 0;
    GC_gcollect();
    CHECK(corrections == 0, "a corrector that was taken away is called");
}

int main(void) {
    GC_INIT();
    handle = GC_get_my_stackbottom(&main_bottom);
    stack = mmap(NULL, kStack + kAbove, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(stack != MAP_FAILED, "no memory");
    run_coroutine();
    if (!skip_on_bdwgc("GC_set_sp_corrector, which 8.2.2 does not have")) check_corrector();
    return 0;
}
