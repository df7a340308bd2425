/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: threads that change, exchange and free what they have made while collections beside the program follow each
 *    other without a pause; now and then one that stops the program, and a child that goes on by itself.
 * Invariant: each reachable object has what was written to it, and weak links to reachable objects stay.
 * Must not know: how writes are seen.
 */
/* usage: incremental_storm [-v] [collections] */
#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS
#include <gc.h>
#include <gc/gc_typed.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { kThreads = 3, kDepth = 11, kShared = 64, kWide = 5000 };

struct tree {
    struct tree *left, *right;
    uintptr_t number, complement; /* = ~number */
};
static GC_word tree_bitmap[1] = {3};
static GC_descr typed;

static struct tree *shared[kShared]; /* static variables are roots */
static pthread_mutex_t exchange = PTHREAD_MUTEX_INITIALIZER;
static atomic_int over;

static struct tree *make_one(uint64_t *random) {
    struct tree *t = next_random(random) % 8 == 0 ? GC_malloc_explicitly_typed(sizeof *t, typed) : GC_malloc(sizeof *t);
    CHECK(t != NULL && t->left == NULL && t->right == NULL, "no memory, or not zeroed");
    t->number = next_random(random);
    t->complement = ~t->number;
    return t;
}

static struct tree *make(int depth, uint64_t *random) {
    struct tree *t = make_one(random);
    if (depth > 0) {
        t->left = make(depth - 1, random);
        t->right = make(depth - 1, random);
    }
    return t;
}

static long verify(const struct tree *t) {
    if (t == NULL) return 0;
    CHECK(t->complement == ~t->number, "an object that is reachable was lost: %p", (const void *)t);
    return 1 + verify(t->left) + verify(t->right);
}

/* Freed by hand: nothing else refers to it. */
static void destroy(struct tree *t) {
    if (t == NULL) return;
    destroy(t->left);
    destroy(t->right);
    GC_free(t);
}

static void change(struct tree *root, uint64_t *random) {
    struct tree *t = root;
    int depth = kDepth - 1;
    for (int steps = (int)(next_random(random) % 6); steps > 0 && t->left != NULL && t->right != NULL; --steps, --depth)
        t = next_random(random) % 2 ? t->left : t->right;
    switch (next_random(random) % 4) {
        case 0: { /* neighbours change places: written where it was marked already, gone where it was not */
            struct tree *left = t->left;
            t->left = t->right;
            t->right = left;
            break;
        }
        case 1:
            t->left = make(depth < 4 ? depth : 4, random);
            break;
        case 2: {
            struct tree *old = t->right;
            t->right = make(2, random);
            destroy(old);
            break;
        }
        default: { /* by way of what all threads share, while only a register or the stack has it */
            size_t at = next_random(random) % kShared;
            pthread_mutex_lock(&exchange);
            struct tree *other = shared[at];
            shared[at] = t->left;
            t->left = NULL;
            pthread_mutex_unlock(&exchange);
            verify(other);
            t->left = other;
        }
    }
}

static void *mutate(void *argument) {
    uint64_t random = (uint64_t)(uintptr_t)argument * 7919 + 1;
    struct tree *root = make(kDepth, &random);
    struct tree **wide = GC_malloc(kWide * sizeof *wide); /* a block of whole units, of many pages */
    void *link = (void *)root;
    GC_general_register_disappearing_link(&link, root);
    while (!atomic_load(&over)) {
        change(root, &random);
        wide[next_random(&random) % kWide] = make_one(&random);
        if (next_random(&random) % 400 == 0) {
            wide = GC_realloc(wide, (kWide + next_random(&random) % kWide) * sizeof *wide);
            CHECK(wide != NULL, "no memory");
        }
        if (next_random(&random) % 200 == 0) verify(root);
        CHECK(link != NULL, "the weak link to a reachable object was cleared");
    }
    verify(root);
    for (int i = 0; i < kWide; ++i) verify(wide[i]);
    GC_unregister_disappearing_link(&link);
    return NULL;
}

static void go_on_in_child(uint64_t *random) {
    pthread_mutex_lock(&exchange); /* or the child would wait for a thread that it has not */
    pid_t child = fork();
    pthread_mutex_unlock(&exchange);
    CHECK(child >= 0, "no child");
    if (child == 0) {
        struct tree *root = make(kDepth, random);
        for (int i = 0; i < 300; ++i) {
            change(root, random);
            if (i % 50 == 0) GC_start_incremental_collection();
        }
        while (GC_collect_a_little()) continue;
        verify(root);
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && status == 0, "the child ended with %x", (unsigned)status);
}

int main(int argc, char **argv) {
    GC_word wanted = (GC_word)argument(argc, argv, 0, 100);
    GC_set_handle_fork(1);
    GC_INIT();
    GC_allow_register_threads();
    GC_enable_incremental();
    int incremental = GC_is_incremental_mode();
    typed = GC_make_descriptor(tree_bitmap, 2);
    pthread_t threads[kThreads];
    for (uintptr_t i = 0; i < kThreads; ++i)
        CHECK(GC_pthread_create(&threads[i], NULL, mutate, (void *)(i + 1)) == 0, "no thread");
    uint64_t random = 99;
    long children = 0;
    while (GC_get_gc_no() < wanted) {
        GC_start_incremental_collection();
        int more = GC_collect_a_little();
        CHECK(incremental || !more, "something is under way that never began");
        if (!incremental) GC_gcollect();
        if (next_random(&random) % 32 == 0) GC_gcollect();
        if (next_random(&random) % 64 == 0) {
            go_on_in_child(&random);
            ++children;
        }
        pthread_mutex_lock(&exchange);
        for (int i = 0; i < kShared; ++i) verify(shared[i]);
        pthread_mutex_unlock(&exchange);
    }
    atomic_store(&over, 1);
    for (int i = 0; i < kThreads; ++i) GC_pthread_join(threads[i], NULL);
    if (verbose(argc, argv))
        printf("incremental %d, %lu collections, %ld children\n", incremental, (unsigned long)GC_get_gc_no(), children);
    return 0;
}
