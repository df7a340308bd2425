/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: frames of a thread that blocks all signals and computes; where the kernel forbids to trace it, frames of one
 *    that waits, and a warning of one that computes.
 * Invariant: the frames are all that keeps the objects; cleared, they keep them no more.
 * Must not know: how a thread is stopped.
 */
#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS
#include <errno.h>
#include <gc.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "watched.h"

static struct watched watched[kPlaces];
static volatile int is_ready, may_wipe, is_wiped, may_end;
static volatile long computed;

static void block_all(void) {
    sigset_t all;
    sigfillset(&all);
    CHECK(pthread_sigmask(SIG_BLOCK, &all, NULL) == 0, "pthread_sigmask failed");
}

static void *hold(void *argument) {
    void *volatile places[kPlaces];
    fill(places, watched, kPlaces);
    scrub();
    block_all();
    for (is_ready = 1; !may_wipe;) computed = computed + 1;
    wipe(places, kPlaces);
    scrub();
    for (is_wiped = 1; !may_end;) computed = computed + 1;
    return argument;
}

static void *compute(void *argument) {
    block_all();
    for (is_ready = 1; !may_end;) computed = computed + 1;
    return argument;
}

static void *hold_and_wait(void *argument) {
    void *volatile places[kPlaces];
    fill(places, watched, kPlaces);
    scrub();
    block_all();
    for (is_ready = 1;;) pause();
    wipe(places, kPlaces);
    return argument;
}

static int warnings;
static void count_warning(char *format, GC_word argument) {
    (void)argument;
    if (strstr(format, "blocks the signal") != NULL) ++warnings;
}

static void forbid_tracing(void) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof steps / sizeof steps[0], steps};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        exit(77);
}

static pthread_t start(void *(*thread)(void *)) {
    pthread_t id;
    is_ready = 0;
    CHECK(pthread_create(&id, NULL, thread, NULL) == 0, "no thread");
    while (!is_ready) sched_yield();
    return id;
}

static void check_warning(void) {
    forbid_tracing();
    GC_INIT();
    GC_set_warn_proc(count_warning);
    start(hold_and_wait);
    collect();
    expect_kept(watched, kPlaces, "frames of a thread that blocks all signals and waits");
    CHECK(warnings == 0, "a warning of a thread that waits");
    start(compute);
    for (int i = 0; i < 3; ++i) GC_gcollect();
    CHECK(warnings == 1, "%d warnings, not one", warnings);
}

static int may_trace(void) {
    pid_t child = fork();
    if (child == 0) _exit(ptrace(PTRACE_SEIZE, getppid(), 0, 0) == 0 ? 0 : 1);
    int status = 0;
    return waitpid(child, &status, 0) == child && status == 0;
}

int main(void) {
    exit_on_bdwgc("a thread that blocks the signal");
    run_apart("without ptrace", check_warning);
    if (!may_trace()) not_available("ptrace");
    GC_INIT();
    pthread_t id = start(hold);
    collect();
    expect_kept(watched, kPlaces, "frames of a thread that blocks all signals and computes");
    may_wipe = 1;
    while (!is_wiped) sched_yield();
    collect();
    expect_half_dead(watched, kPlaces, "cleared frames of a thread that blocks all signals");
    may_end = 1;
    CHECK(pthread_join(id, NULL) == 0, "pthread_join failed");
    return 0;
}
