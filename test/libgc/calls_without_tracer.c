/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: GRANARY_GC_TRACER=off: no thread is traced, neither one that waits in a system call nor one that blocks all
 *    signals.
 * Invariant: a collection comes to its end, and the call of the thread that waits with it, by EINTR. A traced thread's
 *    call would go on.
 * Must not know: how a thread is traced.
 */
#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS
#include <errno.h>
#include <gc.h>
#include <poll.h>
#include <signal.h>

#include "helper.h"

static volatile int is_over, blocks;
static volatile int told;

static void *wait_in_poll(void *argument) {
    CHECK(poll(NULL, 0, -1) < 0, "poll had something to tell");
    told = errno;
    return argument;
}

static void *block_all(void *argument) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    blocks = 1;
    while (!is_over) sched_yield();
    return argument;
}

static volatile int warnings;
static void warn(char *text, GC_word argument) {
    (void)text, (void)argument;
    ++warnings;
}

int main(void) {
    pthread_t waits, computes;
    exit_on_bdwgc("threads that are not registered are stopped");
    setenv("GRANARY_GC_TRACER", "off", 1);
    GC_INIT();
    CHECK(pthread_create(&waits, NULL, wait_in_poll, NULL) == 0, "no thread");
    while (told == 0) GC_gcollect();
    CHECK(told == EINTR, "poll ended with %d", told);
    pthread_join(waits, NULL);

    GC_set_warn_proc(warn);
    CHECK(pthread_create(&computes, NULL, block_all, NULL) == 0, "no thread");
    while (!blocks) sched_yield();
    for (int i = 0; i < 3; ++i) GC_gcollect();
    CHECK(warnings == 1, "%d warnings of a thread that is not seen", warnings);
    is_over = 1;
    pthread_join(computes, NULL);
    return 0;
}
