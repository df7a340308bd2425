/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: the stack of a thread made by the wrapped pthread_create; its argument; what it returns, until it is
 *    joined.
 * Invariant: the place named is the only one that keeps the objects; cleared, it keeps them no more.
 * Must not know: how threads are found.
 */
#define GC_THREADS
#include <gc.h>
#include <sched.h>
#include <sys/syscall.h>

#include "watched.h"

static __thread void *volatile *frame;
static void put(int i, void *object) { frame[i] = object; }
static void clear(int i) { frame[i] = NULL; }

static void *with_frame(void *helper) {
    void *volatile places[kPlaces];
    frame = places;
    wipe(places, kPlaces);
    return helper_main(helper);
}

static struct watched result;
static volatile pid_t tid;

static void *returns_object(void *argument) {
    CHECK(is_intact(&result), "the argument of a new thread was lost");
    tid = (pid_t)syscall(SYS_gettid);
    return argument;
}

NOINLINE static pthread_t start(void) {
    pthread_t id;
    CHECK(pthread_create(&id, NULL, returns_object, watch_new(&result, 64, 5)) == 0, "no thread");
    return id;
}

/* The kernel's list tells when it has ended, without joining it. */
static void wait_until_gone(void) {
    char path[64];
    while (tid == 0) sched_yield();
    snprintf(path, sizeof path, "/proc/self/task/%d", (int)tid);
    while (access(path, F_OK) == 0) sched_yield();
}

int main(void) {
    static struct helper helper;
    GC_INIT();
    helper_init(&helper);
    CHECK(pthread_create(&helper.id, NULL, with_frame, &helper) == 0, "no thread");
    check_place(&(struct place){.what = "stack of a thread", .put = put, .clear = clear, .in = &helper});
    helper_end(&helper);

    if (access("/proc/self/task", F_OK) != 0) return 0;
    pthread_t id = start();
    scrub();
    wait_until_gone();
    collect();
    expect_kept(&result, 1, "the result of a thread that was not joined");
    void *value;
    CHECK(pthread_join(id, &value) == 0, "pthread_join failed");
    CHECK(value == GC_REVEAL_POINTER(result.link), "pthread_join gave another result");
    return 0;
}
