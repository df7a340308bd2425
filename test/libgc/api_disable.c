/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: switching collections off and on, by functions and by the variable; stop functions.
 * Invariant: disabled as often as not enabled, nothing is collected at all.
 * Must not know: when a collection is due.
 */
#include <gc.h>

#include "check.h"

static GC_word collections_of(void (*what)(void)) {
    GC_word before = GC_get_gc_no();
    what();
    return GC_get_gc_no() - before;
}
static void collect_once(void) { GC_gcollect(); }
static void collect_and_unmap(void) { GC_gcollect_and_unmap(); }
static void try_once(void) { GC_try_to_collect(GC_get_stop_func()); }
static void a_little(void) {
    for (int i = 0; i < 20; ++i) GC_collect_a_little();
}
static void allocate_much(void) {
    for (int i = 0; i < 20000; ++i) GC_malloc(1000);
}
/* How soon is the collector's affair: it may use up what it has first. */
static void allocate_until_collected(void) {
    GC_word before = GC_get_gc_no();
    for (int i = 0; i < 2000000 && GC_get_gc_no() == before; ++i) GC_malloc(1000);
}

static int asked;
static int stop_now(void) {
    ++asked;
    return 1;
}
static int never(void) {
    ++asked;
    return 0;
}

static void expect_none(const char *when) {
    CHECK(collections_of(collect_once) == 0, "GC_gcollect collected %s", when);
    CHECK(collections_of(collect_and_unmap) == 0, "GC_gcollect_and_unmap collected %s", when);
    CHECK(collections_of(try_once) == 0, "GC_try_to_collect collected %s", when);
    CHECK(GC_try_to_collect(never) == 0, "GC_try_to_collect says it collected %s", when);
    CHECK(collections_of(a_little) == 0, "GC_collect_a_little collected %s", when);
    CHECK(collections_of(allocate_much) == 0, "allocation collected %s", when);
}

int main(void) {
    GC_INIT();
    CHECK(!GC_is_disabled() && GC_dont_gc == 0, "disabled at the start");
    CHECK(collections_of(collect_once) >= 1, "GC_gcollect did not collect");
    CHECK(collections_of(allocate_until_collected) >= 1, "allocation did not collect");
    for (int n = 1; n <= 3; ++n) {
        GC_disable();
        CHECK(GC_dont_gc == n && GC_is_disabled(), "disabled %d times, the variable is %d", n, GC_dont_gc);
    }
    for (int n = 2; n >= 0; --n) {
        expect_none("while disabled");
        GC_enable();
        CHECK(GC_dont_gc == n && !!GC_is_disabled() == !!n, "enabled, the variable is %d", GC_dont_gc);
    }
    CHECK(collections_of(collect_once) >= 1, "GC_gcollect did not collect when enabled again");
    GC_dont_gc = 1;
    expect_none("while the variable says no");
    CHECK(GC_is_disabled(), "the variable does not disable");
    GC_dont_gc = 0;

    GC_set_disable_automatic_collection(1);
    CHECK(GC_get_disable_automatic_collection() == 1, "GC_get_disable_automatic_collection");
    CHECK(collections_of(allocate_much) == 0, "allocation collected while that was switched off");
    CHECK(collections_of(collect_once) >= 1, "GC_gcollect did not collect while only automatic ones were off");
    GC_set_disable_automatic_collection(0);
    CHECK(collections_of(allocate_until_collected) >= 1, "allocation did not collect when switched on again");

    CHECK(GC_try_to_collect(never) == 1, "GC_try_to_collect says it did not collect");
    CHECK(asked != 0, "the stop function was not asked");
    asked = 0;
    CHECK(GC_try_to_collect(stop_now) == 0, "GC_try_to_collect says it collected although it was stopped");
    CHECK(asked != 0, "the stop function was not asked");
    GC_stop_func before = GC_get_stop_func();
    CHECK(before != NULL && before() == 0, "the default stop function");
    GC_set_stop_func(never);
    CHECK(GC_get_stop_func() == never, "GC_get_stop_func");
    asked = 0;
    GC_gcollect();
    CHECK(asked != 0, "GC_gcollect did not ask the default stop function");
    GC_set_stop_func(before);
    return 0;
}
