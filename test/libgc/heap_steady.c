/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: a program that makes garbage steadily, of small objects or of large ones, in a heap of a size that it has set.
 * Invariant: once the heap has its size, the program touches hardly a page for the first time: what a collection leaves
 *    empty stays for the program, marks too.
 * Must not know: how much the collector returns.
 */
#include <gc.h>
#include <sys/resource.h>

#include "check.h"

enum { kHeap = 192 << 20, kKept = 20000, kCycles = 6 };

static long faults(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

NOINLINE static void make_garbage(size_t object, size_t bytes) {
    for (size_t made = 0; made < bytes; made += object) {
        char *volatile p = GC_MALLOC(object);
        for (size_t at = 0; at < object; at += 4096) p[at] = 1;
    }
}

static void check_steady(const char *what, size_t object) {
    make_garbage(object, (size_t)kHeap * 2);
    const long before = faults();
    const GC_word collections = GC_get_gc_no();
    make_garbage(object, (size_t)kHeap * kCycles);
    const long cycles = (long)(GC_get_gc_no() - collections);
    const long each = (faults() - before) / (cycles == 0 ? 1 : cycles);
    CHECK(cycles >= kCycles / 2, "%s: %ld collections", what, cycles);
    CHECK(each < (kHeap >> 12) / 8, "%s: %ld page faults for each of %ld collections", what, each, cycles);
}

int main(void) {
    static void *kept[kKept];
    exit_on_bdwgc("bdwgc is not asked how much memory it touches anew");
    GC_INIT();
    GC_expand_hp(kHeap);
    for (int i = 0; i < kKept; ++i) kept[i] = GC_MALLOC(500);
    check_steady("small objects", 48);
    check_steady("large objects", 300000);
    CHECK(kept[kKept - 1] != NULL, "nothing is kept");
    return 0;
}
