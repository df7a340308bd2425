/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: forks from several threads while others allocate and collect; children that collect, too.
 * Invariant: each child has what its parent's forking thread could reach, and lives.
 * Must not know: how locks are kept over a fork.
 */
/* usage: fork_storm [forks of each thread] */
#define GC_THREADS
#include <gc.h>
#include <sched.h>
#include <sys/wait.h>

#include "check.h"

enum { kForking = 2, kAllocating = 2, kLength = 400 };
static volatile int end;
static long forks;

struct cell {
    struct cell *next;
    GC_word check;
};

static struct cell *build(GC_word seed) {
    struct cell *list = NULL;
    for (GC_word i = 0; i < kLength; ++i) {
        struct cell *cell = GC_malloc(sizeof *cell + i % 7 * 40);
        cell->next = list;
        cell->check = mixed(seed + i) | 1;
        list = cell;
    }
    return list;
}
static void expect_list(const struct cell *list, GC_word seed, const char *where) {
    GC_word i = kLength;
    for (; list != NULL; list = list->next) {
        --i;
        CHECK(list->check == (mixed(seed + i) | 1), "cell %lu of a list %s changed", (unsigned long)i, where);
    }
    CHECK(i == 0, "%lu cells of a list %s are missing", (unsigned long)i, where);
}

static void *allocates(void *argument) {
    for (GC_word round = 0; !end; ++round) {
        expect_list(build(round), round, "of a thread");
        if (round % 16 == 0) GC_gcollect();
    }
    return argument;
}

static void live_as_child(struct cell *inherited, GC_word seed) {
    alarm(100); /* for a hang */
    expect_list(inherited, seed, "in a child");
    GC_gcollect();
    expect_list(inherited, seed, "in a child that has collected");
    for (GC_word round = 0; round < 5; ++round) expect_list(build(round), round, "of a child");
    GC_gcollect();
    expect_list(inherited, seed, "at the end of a child");
    _exit(0);
}

static void *forks_often(void *argument) {
    GC_word seed = (GC_word)(uintptr_t)argument << 32;
    struct cell *volatile list = build(seed);
    for (long i = 0; i < forks; ++i) {
        pid_t child = fork();
        CHECK(child >= 0, "fork failed");
        if (child == 0) live_as_child(list, seed);
        expect_list(list, seed, "of the parent");
        if (i % 4 == 0) list = build(++seed);
        int status;
        CHECK(waitpid(child, &status, 0) == child, "waitpid failed");
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child ended with status %#x", status);
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t forking[kForking], allocating[kAllocating];
    forks = argument(argc, argv, 0, 60);
    GC_set_handle_fork(1);
    GC_INIT();
    for (int i = 0; i < kAllocating; ++i)
        CHECK(pthread_create(&allocating[i], NULL, allocates, NULL) == 0, "no thread");
    for (int i = 0; i < kForking; ++i)
        CHECK(pthread_create(&forking[i], NULL, forks_often, (void *)(uintptr_t)(i + 1)) == 0, "no thread");
    for (int i = 0; i < kForking; ++i) CHECK(pthread_join(forking[i], NULL) == 0, "pthread_join failed");
    end = 1;
    for (int i = 0; i < kAllocating; ++i) CHECK(pthread_join(allocating[i], NULL) == 0, "pthread_join failed");
    return 0;
}
