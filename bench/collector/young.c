/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: quad trees that die young beside large ones that stay; nodes of the large ones are written to, or not.
 * Invariant: what stays has the same size from the first step to the last; each tree that died was whole.
 * Must not know: which collector it runs on, and how that collects.
 */
/* usage: young [TREES [STEPS [WRITES]]]     each of TREES takes 17 MB; in each step a tree of 1365 nodes is made, and WRITES
 * nodes of old trees get new children; prints the seconds of the steps, the longest of one in milliseconds, and the seconds
 * of CPU time that collections took meanwhile, in all threads of the process */
#include <gc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "steps.h"

enum { kWays = 4, kOldDepth = 9, kYoungDepth = 5, kMostTrees = 64 };

struct node {
    struct node *children[kWays];
};

static struct node *volatile trees[kMostTrees];
static double collecting_from, collecting; /* seconds of CPU time */

/* Not the time of the clock: other programs have the CPU, too. */
static double cpu_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void GC_CALLBACK on_event(GC_EventType event) {
    if (event == GC_EVENT_START) collecting_from = cpu_time();
    if (event == GC_EVENT_END) collecting += cpu_time() - collecting_from;
}

static struct node *grow(unsigned depth) {
    struct node *n = GC_MALLOC(sizeof *n);
    if (n == NULL) _exit(1);
    for (int i = 0; depth > 0 && i < kWays; ++i) n->children[i] = grow(depth - 1);
    return n;
}

static uint64_t count(const struct node *n) {
    uint64_t nodes = 1;
    for (int i = 0; i < kWays; ++i)
        if (n->children[i] != NULL) nodes += count(n->children[i]);
    return nodes;
}

/* A leaf of an old tree is replaced by a young one. */
static void write_to_old(unsigned tree_count) {
    struct node *n = trees[next_random() % tree_count];
    uint64_t way = next_random();
    for (unsigned depth = kOldDepth; depth > 1; --depth, way >>= 2) n = n->children[way % kWays];
    n->children[way % kWays] = grow(0);
}

static void step(unsigned tree_count, unsigned writes) {
    if (count(grow(kYoungDepth)) != ((1u << (2 * (kYoungDepth + 1))) - 1) / 3) {
        fputs("young: a tree has lost nodes\n", stderr);
        _exit(1);
    }
    for (; writes > 0; --writes) write_to_old(tree_count);
}

int main(int argc, char **argv) {
    unsigned tree_count = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 38;
    unsigned steps = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 50000;
    unsigned writes = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
    if (tree_count == 0 || tree_count > kMostTrees) {
        fprintf(stderr, "young: TREES is 1 to %d\n", kMostTrees);
        return 2;
    }
    GC_INIT();
    for (unsigned i = 0; i < tree_count; ++i) trees[i] = grow(kOldDepth);
    GC_set_on_collection_event(on_event);
    double began = now(), before = began, longest = 0;
    for (unsigned i = 0; i < steps; ++i) {
        step(tree_count, writes);
        double after = now();
        if (after - before > longest) longest = after - before;
        before = after;
    }
    printf("%.3f %.3f %.3f\n", before - began, longest * 1e3, collecting);
    return 0;
}
