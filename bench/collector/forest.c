/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: trees of which a branch is replaced again and again, and others are read: much that lives, some that dies.
 * Invariant: what lives is the same at each step; a branch that is read has all its nodes.
 * Must not know: which collector it runs on, and how that collects.
 */
/* usage: forest [TREES [STEPS [READS]]]     prints the seconds of the steps, and the longest of one in milliseconds */
#include <gc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "steps.h"

enum { kDepth = 19, kBranch = 10, kMostTrees = 64 };

struct node {
    struct node *children[2];
    uint64_t value[3];
};

static struct node *volatile trees[kMostTrees];

static struct node *grow(unsigned depth) {
    struct node *n = GC_MALLOC(sizeof *n);
    if (n == NULL) _exit(1);
    n->value[0] = 1;
    if (depth == 0) return n;
    n->children[0] = grow(depth - 1);
    n->children[1] = grow(depth - 1);
    return n;
}

static uint64_t count(const struct node *n) {
    return n == NULL ? 0 : n->value[0] + count(n->children[0]) + count(n->children[1]);
}

static struct node **some_branch(unsigned tree_count) {
    struct node *n = trees[next_random() % tree_count];
    uint64_t way = next_random();
    for (unsigned depth = kDepth; depth > kBranch + 1; --depth, way >>= 1) n = n->children[way & 1];
    return &n->children[way & 1];
}

static void step(unsigned tree_count, unsigned reads) {
    *some_branch(tree_count) = grow(kBranch);
    for (; reads > 0; --reads) {
        if (count(*some_branch(tree_count)) == (2u << kBranch) - 1) continue;
        fputs("forest: a branch has lost nodes\n", stderr);
        _exit(1);
    }
}

int main(int argc, char **argv) {
    unsigned tree_count = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 21;
    unsigned steps = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 30000;
    unsigned reads = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 8;
    if (tree_count == 0 || tree_count > kMostTrees) {
        fprintf(stderr, "forest: TREES is 1 to %d\n", kMostTrees);
        return 2;
    }
    GC_INIT();
    for (unsigned i = 0; i < tree_count; ++i) trees[i] = grow(kDepth);
    double began = now(), before = began, longest = 0;
    for (unsigned i = 0; i < steps; ++i) {
        step(tree_count, reads);
        double after = now();
        if (after - before > longest) longest = after - before;
        before = after;
    }
    printf("%.3f %.2f\n", now() - began, longest * 1e3);
    return 0;
}
