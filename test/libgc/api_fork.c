/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: fork while threads allocate: the child collects and allocates, with handlers and by its own calls.
 * Invariant: in the child everything that was reachable is whole.
 * Must not know: how locks are kept over a fork.
 */
#define GC_THREADS
#include <gc.h>
#include <sched.h>
#include <sys/wait.h>

#include "watched.h"

enum { kThreads = 3, kForks = 10 };
static volatile int end;
static struct watched watched[kPlaces];
static void *volatile places[kPlaces];

static void *allocate(void *argument) {
    void **list = NULL;
    for (int i = 0; !end; ++i) {
        void **next = GC_malloc(16 + (size_t)(i % 40) * 16);
        next[0] = i % 100 == 0 ? NULL : list;
        list = next;
    }
    return argument;
}

/* In the child no other thread is; a hang there ends by the alarm. */
static void live(void) {
    alarm(100);
    collect();
    expect_kept(watched, kPlaces, "objects in the child");
    for (int i = 0; i < 2000; ++i) memset(GC_malloc(1 + (size_t)i * 7), 0xbb, 1 + (size_t)i * 7);
    collect();
    expect_kept(watched, kPlaces, "objects in the child that has allocated");
    for (int i = 0; i < kPlaces; ++i) places[i] = NULL;
    collect();
    expect_half_dead(watched, kPlaces, "objects that the child has dropped");
    _exit(0);
}

static void *exits_at_once(void *argument) { return argument; }

/* handle: as GC_set_handle_fork has it. */
static void check(int handle) {
    pthread_t threads[kThreads];
    GC_set_handle_fork(handle);
    GC_INIT();
    fill(places, watched, kPlaces);
    for (int i = 0; i < kThreads; ++i) CHECK(pthread_create(&threads[i], NULL, allocate, NULL) == 0, "no thread");
    for (int i = 0; i < kForks; ++i) {
        if (handle == 0) GC_atfork_prepare();
        pid_t child = fork();
        if (child == 0) {
            if (handle == 0) GC_atfork_child();
            if (i % 2) { /* a child may have threads of its own */
                pthread_t id;
                GC_start_mark_threads();
                CHECK(pthread_create(&id, NULL, exits_at_once, NULL) == 0, "no thread in the child");
                pthread_join(id, NULL);
            }
            live();
        }
        if (handle == 0) GC_atfork_parent();
        CHECK(child > 0, "fork failed");
        if (i % 3 == 0) GC_gcollect();
        int status;
        CHECK(waitpid(child, &status, 0) == child, "waitpid failed");
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "handlers %d: the child ended with status %#x", handle,
              status);
    }
    end = 1;
    for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
    collect();
    expect_kept(watched, kPlaces, "objects in the parent");
    exit(0);
}

int main(void) {
    static const int handles[] = {1, 0, -1};
    for (int i = 0; i < 3; ++i) {
        pid_t child = fork(); /* how forks are handled is said before GC_init */
        if (child == 0) check(handles[i]);
        int status;
        CHECK(child > 0 && waitpid(child, &status, 0) == child, "no process");
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) FAIL("handlers %d: status %#x", handles[i], status);
    }
    return 0;
}
