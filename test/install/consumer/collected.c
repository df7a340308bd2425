/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: a program of a user, whose memory the collector frees.
 * Invariant: needs nothing but the installed header and library.
 * Must not know: where they came from.
 */
#include <errno.h>
#include <granary/gc.h>
#include <stdio.h>

struct cell {
    struct cell *next;
};

static int build_and_count(void) {
    struct cell *list = NULL;
    for (int i = 0; i < 1000000; i++) {
        struct cell *cell = gr_gc_malloc(sizeof *cell);
        if (cell == NULL) return -1;
        cell->next = i % 1000 != 0 ? list : NULL;
        list = cell;
    }
    int length = 0;
    for (; list != NULL; list = list->next) ++length;
    return length;
}

int main(void) {
    if (gr_gc_init() != 0) return 1;
    int stopped = build_and_count();
    int can_beside = gr_gc_collect_beside();
    if (can_beside != 0 && errno != ENOSYS) return 1;
    int beside = build_and_count();
    gr_gc_statistics statistics = {.size = sizeof statistics};
    if (gr_gc_statistics_get(&statistics) != 0) return 1;
    printf("%d and %d cells, %llu collections, beside the program: %s\n", stopped, beside,
           (unsigned long long)statistics.collections, can_beside == 0 ? "yes" : "no");
    return stopped == 1000 && beside == 1000 && statistics.collections != 0 ? 0 : 1;
}
