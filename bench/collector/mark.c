/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: a complete binary tree of blocks that is collected again and again, or a list of them, or an array of
 *    pointers to them; nothing of it dies.
 * Invariant: block i has the blocks 2i + 1 and 2i + 2 for children, or i + 1, or none; in the order of their
 *    addresses or in another one.
 * Must not know: which collector it runs on.
 */
/* usage: mark ordered|shuffled [blocks [tree|list|array]]     prints the milliseconds of the quickest collection */
#include <gc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kBytes = 31, kCollections = 6 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void shuffle(void ***blocks, size_t count) {
    uint64_t state = 1;
    for (size_t i = count - 1; i > 0; --i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        size_t j = (size_t)(state >> 33) % (i + 1);
        void **other = blocks[j];
        blocks[j] = blocks[i];
        blocks[i] = other;
    }
}

static void **volatile root;

static void link_tree(void ***blocks, size_t count) {
    for (size_t i = 0; i < count; ++i)
        for (size_t child = 0; child < 2; ++child)
            if (2 * i + 1 + child < count) blocks[i][child] = blocks[2 * i + 1 + child];
    root = blocks[0];
}

static void link_list(void ***blocks, size_t count) {
    for (size_t i = 0; i + 1 < count; ++i) blocks[i][0] = blocks[i + 1];
    root = blocks[0];
}

static void link_array(void ***blocks, size_t count) {
    root = GC_malloc(count * sizeof *blocks);
    if (root == NULL) exit(1);
    memcpy((void *)root, blocks, count * sizeof *blocks);
}

int main(int argc, char **argv) {
    size_t count = argc > 2 ? strtoul(argv[2], NULL, 10) : 4000000;
    const char *shape = argc > 3 ? argv[3] : "tree";
    void (*link)(void ***, size_t) = strcmp(shape, "tree") == 0    ? link_tree
                                     : strcmp(shape, "list") == 0  ? link_list
                                     : strcmp(shape, "array") == 0 ? link_array
                                                                   : NULL;
    if (argc < 2 || count == 0 || link == NULL) {
        fprintf(stderr, "usage: mark ordered|shuffled [blocks [tree|list|array]]\n");
        return 2;
    }
    GC_INIT();
    GC_disable();
    void ***blocks = malloc(count * sizeof *blocks); /* where no collector looks */
    if (blocks == NULL) return 1;
    for (size_t i = 0; i < count; ++i) {
        blocks[i] = GC_malloc(kBytes);
        if (blocks[i] == NULL) return 1;
    }
    if (strcmp(argv[1], "shuffled") == 0) shuffle(blocks, count);
    link(blocks, count);
    free(blocks);
    GC_enable();
    double best = 1e9;
    for (int i = 0; i < kCollections; ++i) {
        double begin = now();
        GC_gcollect();
        double took = now() - begin;
        if (took < best) best = took;
    }
    printf("%.2f\n", best);
    return 0;
}
