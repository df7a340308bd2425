/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: a program that changes what it does: cells of one size, of which each eighth stays; then a list of another size.
 * Invariant: what stays is spread over all the memory of the first cells.
 * Must not know: which collector it runs on.
 */
/* usage: sparse     prints how often it was collected in the second part */
#include <gc.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

enum { kCells = 3000000, kStays = 8, kLater = 1500000, kCellBytes = 24, kLaterBytes = 56 };

static void **volatile kept;
static void **volatile dropped;
static void **volatile later;

static void **cell(size_t bytes, void **next) {
    void **made = GC_malloc(bytes);
    if (made == NULL) _exit(1);
    made[0] = (void *)next;
    return made;
}

__attribute__((noinline)) static void fill(void) {
    for (int i = 0; i < kCells; ++i) {
        if (i % kStays == 0)
            kept = cell(kCellBytes, kept);
        else
            dropped = cell(kCellBytes, dropped);
    }
}

int main(void) {
    GC_INIT();
    fill();
    dropped = NULL;
    GC_gcollect();
    unsigned long before = GC_get_gc_no();
    for (int i = 0; i < kLater; ++i) later = cell(kLaterBytes, later);
    printf("%lu\n", (unsigned long)GC_get_gc_no() - before);
    return 0;
}
