/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: when finalizers run: by themselves, or on demand with a notifier; and what is told of the queue.
 * Invariant: on demand nothing runs but in GC_invoke_finalizers, and the notifier is called once a collection at most.
 * Must not know: in which thread.
 */
#include <gc.h>

#include "watched.h"

enum { kObjects = 64 };
static int ran, notified, queued, inside_invoke, wrong;

static void finalize(void *object, void *cd) {
    (void)object;
    if (cd != &ran) ++wrong;
    if (GC_get_finalize_on_demand() && !inside_invoke) ++wrong;
    ++ran;
}
static void notify(void) {
    ++notified;
    if (GC_malloc(100) == NULL) ++wrong; /* no lock is held */
}
static void await(void *object) {
    (void)object;
    ++queued;
}

NOINLINE static void make(void) {
    for (int i = 0; i < kObjects; ++i) {
        void *object = GC_malloc(40);
        GC_register_finalizer_no_order(object, finalize, &ran, NULL, NULL);
    }
}

int main(void) {
    GC_INIT();
    CHECK(GC_get_finalize_on_demand() == 0 && GC_finalize_on_demand == 0, "on demand by default");
    CHECK(GC_get_java_finalization() == 1, "GC_java_finalization is %d by default", GC_get_java_finalization());
    CHECK(GC_get_finalizer_notifier() == NULL, "a notifier by default");
    GC_set_await_finalize_proc(await);
    CHECK(GC_get_await_finalize_proc() == await, "GC_get_await_finalize_proc");

    make();
    collect();
    CHECK(2 * ran >= kObjects, "only %d of %d finalizers ran by themselves", ran, (int)kObjects);
    CHECK(queued >= ran, "%d finalizers ran, but %d objects were queued", ran, queued);

    GC_set_finalize_on_demand(1);
    GC_set_finalizer_notifier(notify);
    CHECK(GC_finalize_on_demand == 1 && GC_finalizer_notifier == notify, "variables and functions differ");
    GC_invoke_finalizers();
    ran = queued = notified = 0;
    make();
    scrub();
    GC_word before = GC_get_gc_no();
    GC_gcollect();
    GC_malloc(10);
    GC_word collections = GC_get_gc_no() - before;
    CHECK(ran == 0, "%d finalizers ran before they were demanded", ran);
    CHECK(2 * queued >= kObjects, "only %d of %d objects were queued", queued, (int)kObjects);
    CHECK(notified >= 1, "the notifier was not called");
    CHECK((GC_word)notified <= collections, "the notifier was called %d times in %lu collections", notified,
          (unsigned long)collections);
    CHECK(GC_should_invoke_finalizers() != 0, "nothing is said to be queued");
    inside_invoke = 1;
    int invoked = GC_invoke_finalizers();
    inside_invoke = 0;
    CHECK(invoked == queued && ran == queued, "%d were queued, %d invoked, %d ran", queued, invoked, ran);
    CHECK(GC_should_invoke_finalizers() == 0, "something is queued after all have run");
    CHECK(GC_invoke_finalizers() == 0, "finalizers ran again");

    /* Setting the variable alone is enough. */
    GC_finalize_on_demand = 0;
    ran = 0;
    make();
    collect();
    CHECK(2 * ran >= kObjects, "only %d finalizers ran after the variable was cleared", ran);
    CHECK(wrong == 0, "%d calls were wrong", wrong);
    GC_set_await_finalize_proc(NULL);
    return 0;
}
