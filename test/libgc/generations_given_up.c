/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: how much the program allocates until the next collection, with minor collections: little, if it leaves its old objects
 *    alone; as much as without generations, if it writes to all of them, and after the collection that follows, too.
 * Invariant: each object has the same size, and no young one stays.
 * Must not know: what a minor collection costs.
 */
#include <gc.h>

#include "check.h"

enum { kOld = 200000, kPiece = 1 << 20, kOften = 7 << 20, kRarely = 10 << 20, kNever = 100 << 20 };
struct node {
    struct node *other[4];
};
static struct node **old;

NOINLINE static void fill(void) {
    old = GC_MALLOC(kOld * sizeof *old);
    for (int i = 0; i < kOld; ++i) CHECK((old[i] = GC_NEW(struct node)) != NULL, "no memory");
}

NOINLINE static void write_to_all(void) {
    for (int i = 0; i < kOld; ++i) old[i]->other[0] = old[i];
}

/* The bytes that were allocated when the next collection had been done. */
NOINLINE static size_t until_next(int writes) {
    const size_t bytes = GC_size(old[0]);
    const GC_word before = GC_get_gc_no();
    size_t all = 0;
    for (size_t written = 0; GC_get_gc_no() == before && all < kNever; all += bytes) {
        CHECK(GC_NEW(struct node) != NULL, "no memory");
        if (!writes || all - written < kPiece) continue;
        write_to_all();
        written = all;
    }
    return all;
}

int main(void) {
    if (skip_on_bdwgc("it has no such interface")) return 0;
    GC_INIT();
    int (*generations)(void);
    *(void **)&generations = dlsym(RTLD_DEFAULT, "gr_gc_collect_generations");
    CHECK(generations != NULL, "the function is not there");
    if (generations() != 0) not_available("reports of written pages");
    fill();
    GC_gcollect();
    GC_gcollect();
    const size_t quiet = until_next(0);
    CHECK(quiet < kOften, "no minor collection came within %zu bytes", quiet);
    GC_gcollect();
    const size_t busy = until_next(1);
    CHECK(busy > kRarely && busy < kNever, "with writes to all old objects the next collection came after %zu bytes",
          busy);
    const size_t rest = until_next(0);
    CHECK(rest > kRarely && rest < kNever, "after a minor collection that was given up one came after %zu bytes", rest);
    const size_t again = until_next(0);
    CHECK(again < kOften, "minor collections did not come back within %zu bytes", again);
    return 0;
}
