/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: procedures of a program with one thread that collections beside it call: a mark procedure, one that pushes
 *    roots, those that are told of the dead, of the beginning, of each event, of a new heap size, and one that may
 *    forbid the collection; and what GC_disable forbids.
 * Invariant: none of them runs but where the thread asks for memory or for a collection, so none finds anything half done;
 *    nothing is collected from when GC_disable returns until GC_enable.
 * Must not know: which thread calls.
 */
#include <gc.h>
#include <gc/gc_disclaim.h>
#include <gc/gc_mark.h>
#include <time.h>

#include "check.h"

enum { kNodes = 30000, kCollections = 20, kFew = 5, kPlain = 1 /* the kind that is scanned from end to end */ };

/* The program's own: outside of calls it may be half done. */
static volatile int half_done;
static volatile int marked, pushed, disclaimed, begun, ended, resized, asked;
static GC_push_other_roots_proc push_others;

static void expect_whole(const char *where) { CHECK(!half_done, "%s was called while the program ran", where); }

static struct GC_ms_entry *mark(GC_word *object, struct GC_ms_entry *top, struct GC_ms_entry *limit, GC_word data) {
    (void)data;
    expect_whole("the mark procedure");
    ++marked;
    return GC_MARK_AND_PUSH((void *)object[0], top, limit, (void **)object);
}
static void push(void) {
    expect_whole("the procedure for roots");
    ++pushed;
    push_others();
}
static int disclaim(void *object) {
    (void)object;
    expect_whole("the procedure for the dead");
    ++disclaimed;
    return 0;
}

static void start(void) {
    expect_whole("the procedure for the beginning");
    ++begun;
}
static void happened(GC_EventType event) {
    expect_whole("the procedure for events");
    CHECK(begun - ended == (event != GC_EVENT_START), "event %d after %d collections began and %d ended", event, begun,
          ended);
    begun += event == GC_EVENT_START;
    ended += event == GC_EVENT_END;
}
static void resize(GC_word size) {
    (void)size;
    expect_whole("the procedure for the size of the heap");
    ++resized;
}
static int stop(void) {
    expect_whole("the procedure that may forbid a collection");
    return ++asked % 4 == 0;
}

/* Nothing of it may be seen. */
static void run_for(long nanoseconds) {
    struct timespec begin, now;
    half_done = 1;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < nanoseconds);
    half_done = 0;
}

static void **nodes; /* static variables are roots */

static void build(int kind) {
    for (int i = 0; i < kNodes; ++i) {
        void **node = GC_generic_malloc(2 * sizeof *node, kind);
        node[0] = nodes;
        nodes = node;
    }
}

static void let_collect(int kind, GC_word collections) {
    for (GC_word last = GC_get_gc_no() + collections; GC_get_gc_no() < last;) {
        GC_start_incremental_collection();
        for (int i = 0; i < 40; ++i) GC_generic_malloc(2000, kind);
        run_for(100000);
    }
}

/* Without asking for memory, too. */
static void collect_a_little(void) {
    for (GC_word last = GC_get_gc_no() + 2; GC_get_gc_no() < last;) {
        GC_start_incremental_collection();
        while (GC_collect_a_little()) run_for(1000);
    }
}

static void forbid(int kind) {
    for (int i = 0; i < 200; ++i) {
        GC_start_incremental_collection();
        for (int j = 0; j < i % 40; ++j) GC_generic_malloc(2000, kind);
        GC_disable();
        GC_word before = GC_get_gc_no();
        for (int j = 0; j < 20; ++j) {
            GC_generic_malloc(2000, kind);
            run_for(50000);
        }
        CHECK(GC_get_gc_no() == before, "a collection ended while it was disabled");
        GC_enable();
    }
}

static void begin(void) {
    GC_INIT();
    GC_enable_incremental();
    if (!GC_is_incremental_mode()) not_available("collections beside the program");
    build(kPlain);
}

static void expect_nodes(int wanted) {
    int count = 0;
    for (void **node = nodes; node != NULL; node = node[0]) ++count;
    CHECK(count == wanted, "%d of %d nodes are there", count, wanted);
}

static void without_any(void) {
    begin();
    forbid(kPlain);
    expect_nodes(kNodes);
}

static void that_pushes(void) {
    begin();
    push_others = GC_get_push_other_roots();
    GC_set_push_other_roots(push);
    let_collect(kPlain, kCollections);
    CHECK(pushed > 0, "the procedure for roots was not called");
    expect_nodes(kNodes);
}

static void that_marks(void) {
    begin();
    int asks = (int)GC_new_kind(GC_new_free_list(), GC_MAKE_PROC(GC_new_proc(mark), 0), 0, 1);
    build(asks);
    let_collect(asks, kCollections);
    CHECK(marked >= kNodes, "the mark procedure was called %d times", marked);
    collect_a_little();
    forbid(asks);
    expect_nodes(2 * kNodes);
}

static void that_is_told(void) {
    begin();
    int told = (int)GC_new_kind(GC_new_free_list(), 0, 1, 1);
    GC_register_disclaim_proc(told, disclaim, 0);
    let_collect(told, kCollections);
    CHECK(disclaimed > 0, "the procedure for the dead was not called");
    expect_nodes(kNodes);
}

static void that_is_told_of_the_beginning(void) {
    begin();
    GC_set_start_callback(start);
    let_collect(kPlain, kFew);
    CHECK(begun >= kFew, "the procedure for the beginning was called %d times", begun);
    expect_nodes(kNodes);
}

static void that_is_told_of_events(void) {
    begin();
    GC_set_on_collection_event(happened);
    let_collect(kPlain, kFew);
    collect_a_little();
    GC_gcollect();
    CHECK(begun >= kFew && ended == begun, "%d collections began, %d ended", begun, ended);
    expect_nodes(kNodes);
}

static void that_is_told_of_sizes(void) {
    begin();
    GC_set_on_heap_resize(resize);
    for (int i = 0; i < kFew; ++i) {
        build(kPlain);
        let_collect(kPlain, 1);
    }
    CHECK(resized > 0, "the procedure for the size of the heap was not called");
    expect_nodes((1 + kFew) * kNodes);
}

static void that_may_forbid(void) {
    begin();
    GC_set_stop_func(stop);
    let_collect(kPlain, kFew);
    CHECK(asked > 0, "the procedure that may forbid a collection was not called");
    expect_nodes(kNodes);
}

int main(void) {
    run_apart("no procedure", without_any);
    run_apart("one that pushes roots", that_pushes);
    run_apart("one that marks", that_marks);
    run_apart("one that is told of the dead", that_is_told);
    run_apart("one that is told of the beginning", that_is_told_of_the_beginning);
    run_apart("one that is told of events", that_is_told_of_events);
    run_apart("one that is told of sizes", that_is_told_of_sizes);
    run_apart("one that may forbid", that_may_forbid);
    return 0;
}
