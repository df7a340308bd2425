/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: toggle references: strong ones keep, weak ones do not, dropped ones are forgotten.
 * Invariant: the callback is asked before each collection, and what it says last counts.
 * Must not know: how they are stored.
 */
#include <gc.h>

#include "watched.h"

enum { kObjects = 32 };
static GC_ToggleRefStatus answer = GC_TOGGLE_REF_STRONG;
static int asked, strange;
static struct watched watched[kObjects];

static GC_ToggleRefStatus toggle(void *object) {
    ++asked;
    if (((GC_word *)object)[0] != pattern(9, 0)) ++strange;
    return answer;
}

NOINLINE static void make(int strong) {
    for (int i = 0; i < kObjects; ++i)
        CHECK(GC_toggleref_add(watch_new(&watched[i], 48, 9), strong) == GC_SUCCESS, "no toggle reference");
    scrub();
}

/* What is asked before the collection decides, not how it was added. */
static void check(int strong, GC_ToggleRefStatus first, GC_ToggleRefStatus second, const char *what) {
    answer = first;
    asked = 0;
    make(strong);
    collect();
    CHECK(asked >= kObjects, "%s: asked %d times for %d objects", what, asked, (int)kObjects);
    CHECK(strange == 0, "%s: asked for something else", what);
    if (first == GC_TOGGLE_REF_STRONG)
        expect_kept(watched, kObjects, what);
    else
        expect_half_dead(watched, kObjects, what);
    answer = second;
    collect();
    expect_half_dead(watched, kObjects, what);
    forget(watched, kObjects);
    answer = GC_TOGGLE_REF_DROP;
    collect();
    asked = 0;
    collect();
    CHECK(asked == 0, "%s: asked for %d that were dropped", what, asked);
}

int main(void) {
    GC_INIT();
    void *volatile unregistered = GC_malloc(16);
    CHECK(GC_get_toggleref_func() == NULL, "a callback by default");
    CHECK(GC_toggleref_add(unregistered, 1) == GC_SUCCESS, "adding without a callback");
    GC_set_toggleref_func(toggle);
    CHECK(GC_get_toggleref_func() == toggle, "GC_get_toggleref_func");
    check(1, GC_TOGGLE_REF_STRONG, GC_TOGGLE_REF_WEAK, "strong, then weak");
    check(1, GC_TOGGLE_REF_STRONG, GC_TOGGLE_REF_DROP, "strong, then dropped");
    check(0, GC_TOGGLE_REF_STRONG, GC_TOGGLE_REF_WEAK, "added weak, then strong");
    check(0, GC_TOGGLE_REF_WEAK, GC_TOGGLE_REF_WEAK, "weak");
    return 0;
}
