/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: a workload: trees that live long, trees that die young, an array without pointers, in some threads.
 * Invariant: every tree is counted when it is dropped, so none can have lost a node.
 * Must not know: what is measured with it.
 */
/* usage: gcbench [depth] [threads]     prints the seconds that it took and the number of collections */
#define GC_THREADS
#include <gc.h>
#include <time.h>

#include "check.h"

struct tree {
    struct tree *left, *right;
    int depth, unused;
};

static int depth;

/* Leaves first. */
static struct tree *grow(int levels) {
    struct tree *left = levels > 0 ? grow(levels - 1) : NULL, *right = levels > 0 ? grow(levels - 1) : NULL;
    struct tree *tree = GC_malloc(sizeof *tree);
    CHECK(tree != NULL, "no memory");
    tree->left = left;
    tree->right = right;
    tree->depth = levels;
    return tree;
}

/* The root first. */
static void extend(struct tree *tree, int levels) {
    tree->depth = levels;
    if (levels == 0) return;
    tree->left = GC_malloc(sizeof *tree);
    tree->right = GC_malloc(sizeof *tree);
    CHECK(tree->left != NULL && tree->right != NULL, "no memory");
    extend(tree->left, levels - 1);
    extend(tree->right, levels - 1);
}

static long count(const struct tree *tree, int levels) {
    if (tree == NULL) return 0;
    CHECK(tree->depth == levels, "a tree of depth %d has %d in its place", levels, tree->depth);
    return 1 + count(tree->left, levels - 1) + count(tree->right, levels - 1);
}

static void expect_tree(const struct tree *tree, int levels) {
    long nodes = count(tree, levels), all = (2l << levels) - 1;
    CHECK(nodes == all, "a tree of depth %d has %ld nodes, not %ld", levels, nodes, all);
}

static void *run(void *argument) {
    struct tree *old = grow(depth - 2 > 0 ? depth - 2 : 0);
    size_t numbers = (size_t)1 << (depth + 2);
    double *array = GC_malloc_atomic(numbers * sizeof *array);
    CHECK(array != NULL, "no memory");
    for (size_t i = 0; i < numbers; ++i) array[i] = 1.0 / (double)(i + 1);
    for (int levels = 4; levels <= depth; levels += 2) {
        for (long trees = 2l << (depth - levels); trees > 0; --trees) {
            expect_tree(grow(levels), levels);
            struct tree *tree = GC_malloc(sizeof *tree);
            CHECK(tree != NULL, "no memory");
            extend(tree, levels);
            expect_tree(tree, levels);
        }
    }
    expect_tree(old, depth - 2 > 0 ? depth - 2 : 0);
    for (size_t i = 0; i < numbers; ++i) CHECK(array[i] == 1.0 / (double)(i + 1), "number %zu changed", i);
    return argument;
}

int main(int argc, char **argv) {
    enum { kMost = 64 };
    pthread_t threads[kMost];
    struct timespec start, end;
    depth = (int)argument(argc, argv, 0, 14);
    long count_of_threads = argument(argc, argv, 1, 1);
    CHECK(depth >= 0 && depth < 30 && count_of_threads >= 1 && count_of_threads <= kMost,
          "usage: gcbench [depth] [threads]");
    GC_INIT();
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (long i = 1; i < count_of_threads; ++i) CHECK(pthread_create(&threads[i], NULL, run, NULL) == 0, "no thread");
    run(NULL);
    for (long i = 1; i < count_of_threads; ++i) CHECK(pthread_join(threads[i], NULL) == 0, "pthread_join failed");
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.3f %lu\n", (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec),
           (unsigned long)GC_get_gc_no());
    return 0;
}
