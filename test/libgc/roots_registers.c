/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: pointers that stand in registers only: of a thread that is stopped, and of the one that collects.
 * Invariant: no copy in memory while the collection runs.
 * Must not know: how a thread is stopped.
 */
#define GC_THREADS
#include <gc.h>

#include "watched.h"

#ifndef __x86_64__
int main(void) { not_available("the registers of this processor"); }
#else

enum { kRegisters = 5, kRounds = 16 };
static struct watched watched[kRounds][kRegisters];
static uintptr_t hidden[kRegisters];
static volatile int ready, go_on;

/* rbx, r12 to r15 get what is hidden, by complementing it in place; then the thread yields until it may go on. */
NOINLINE static void hold(void) {
    __asm__ volatile(
        "mov 0(%[from]), %%rbx\n\t"
        "mov 8(%[from]), %%r12\n\t"
        "mov 16(%[from]), %%r13\n\t"
        "mov 24(%[from]), %%r14\n\t"
        "mov 32(%[from]), %%r15\n\t"
        "not %%rbx\n\t"
        "not %%r12\n\t"
        "not %%r13\n\t"
        "not %%r14\n\t"
        "not %%r15\n\t"
        "movl $1, %[ready]\n"
        "1:\n\t"
        "mov $24, %%eax\n\t" /* sched_yield */
        "syscall\n\t"
        "cmpl $0, %[go_on]\n\t"
        "je 1b\n\t"
        "xor %%ebx, %%ebx\n\t"
        "xor %%r12d, %%r12d\n\t"
        "xor %%r13d, %%r13d\n\t"
        "xor %%r14d, %%r14d\n\t"
        "xor %%r15d, %%r15d\n\t"
        : [ready] "=m"(ready)
        : [from] "r"(hidden), [go_on] "m"(go_on)
        : "rax", "rbx", "rcx", "r11", "r12", "r13", "r14", "r15", "memory", "cc");
}

/* As above, in registers that a call need not keep, and spinning. */
NOINLINE static void hold_others(void) {
    __asm__ volatile(
        "mov 0(%[from]), %%rax\n\t"
        "mov 8(%[from]), %%rcx\n\t"
        "mov 16(%[from]), %%r8\n\t"
        "mov 24(%[from]), %%r10\n\t"
        "mov 32(%[from]), %%r11\n\t"
        "not %%rax\n\t"
        "not %%rcx\n\t"
        "not %%r8\n\t"
        "not %%r10\n\t"
        "not %%r11\n\t"
        "movl $1, %[ready]\n"
        "1:\n\t"
        "pause\n\t"
        "cmpl $0, %[go_on]\n\t"
        "je 1b\n\t"
        "xor %%eax, %%eax\n\t"
        "xor %%ecx, %%ecx\n\t"
        "xor %%r8d, %%r8d\n\t"
        "xor %%r10d, %%r10d\n\t"
        "xor %%r11d, %%r11d\n\t"
        : [ready] "=m"(ready)
        : [from] "r"(hidden), [go_on] "m"(go_on)
        : "rax", "rcx", "r8", "r10", "r11", "memory", "cc");
}

/* The caller of GC_gcollect: what it keeps across the call lies in registers that calls preserve. */
NOINLINE static void hold_and_collect(void) {
    __asm__ volatile(
        "push %%rbp\n\t"
        "mov %%rsp, %%rbp\n\t"
        "sub $128, %%rsp\n\t" /* the red zone may be in use */
        "and $-16, %%rsp\n\t"
        "mov 0(%[from]), %%rbx\n\t"
        "mov 8(%[from]), %%r12\n\t"
        "mov 16(%[from]), %%r13\n\t"
        "mov 24(%[from]), %%r14\n\t"
        "mov 32(%[from]), %%r15\n\t"
        "not %%rbx\n\t"
        "not %%r12\n\t"
        "not %%r13\n\t"
        "not %%r14\n\t"
        "not %%r15\n\t"
        "call *%[collect]\n\t"
        "mov %%rbp, %%rsp\n\t"
        "pop %%rbp\n\t"
        "xor %%ebx, %%ebx\n\t"
        "xor %%r12d, %%r12d\n\t"
        "xor %%r13d, %%r13d\n\t"
        "xor %%r14d, %%r14d\n\t"
        "xor %%r15d, %%r15d\n\t"
        :
        : [from] "D"(hidden), [collect] "a"(GC_gcollect)
        : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc");
}

NOINLINE static void hide(int round) {
    for (int i = 0; i < kRegisters; ++i)
        hidden[i] = ~(uintptr_t)watch_new(&watched[round][i], 64, (uint64_t)(round * kRegisters + i));
}

static void (*holding)(void);
static void call_hold(void *argument) {
    hide(*(int *)argument);
    scrub();
    holding();
}

static void expect_dead_at_last(const char *what) {
    scrub();
    collect();
    expect_half_dead(watched[0], kRounds * kRegisters, what);
    forget(watched[0], kRounds * kRegisters);
}

static void check_thread(struct helper *helper, void (*hold_them)(void), const char *what) {
    holding = hold_them;
    for (int round = 0; round < kRounds; ++round) {
        ready = go_on = 0;
        helper->function = call_hold;
        helper->argument = &round;
        sem_post(&helper->told);
        while (!ready) sched_yield();
        collect();
        expect_kept(watched[round], kRegisters, what);
        go_on = 1;
        wait_for(&helper->done);
    }
    expect_dead_at_last(what);
}

int main(void) {
    static struct helper helper;
    GC_INIT();
    for (int round = 0; round < kRounds; ++round) {
        hide(round);
        scrub();
        hold_and_collect();
        expect_kept(watched[round], kRegisters, "preserved registers of the thread that collects");
    }
    expect_dead_at_last("preserved registers of the thread that collects");
    helper_start(&helper);
    check_thread(&helper, hold, "preserved registers of another thread");
    check_thread(&helper, hold_others, "scratch registers of another thread");
    helper_end(&helper);
    return 0;
}
#endif
