/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: ten lists, of which nine are dropped; then two collections.
 * Invariant: what is needed are the pages that a block of the list that stays lies in.
 * Must not know: which collector it runs on.
 */
/* usage: shrink     prints what is resident beyond the start, over what is needed */
#include <gc.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

enum { kLists = 10, kBlocks = 500000, kBytes = 47 };

static void **volatile lists[kLists];

static long resident(void) {
    long all = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &all, &pages) != 2) return -1;
    fclose(file);
    return pages;
}

__attribute__((noinline)) static void build(int list) {
    for (int i = 0; i < kBlocks; ++i) {
        void **block = GC_malloc(kBytes);
        if (block == NULL) _exit(1);
        block[0] = (void *)lists[list];
        lists[list] = block;
    }
}

int main(void) {
    GC_INIT();
    long before = resident();
    for (int list = 0; list < kLists; ++list) build(list);
    for (int list = 1; list < kLists; ++list) lists[list] = NULL;
    GC_gcollect();
    GC_gcollect();
    long after = resident();
    long page = sysconf(_SC_PAGESIZE), needed = 0;
    uintptr_t last = 0;
    for (void **block = lists[0]; block != NULL; block = block[0]) {
        needed += (uintptr_t)block / (uintptr_t)page != last;
        last = (uintptr_t)block / (uintptr_t)page;
    }
    printf("%.3f\n", (double)(after - before) / (double)needed);
    return 0;
}
