/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: events of collections and of threads, the callback at their start, and of heap sizes.
 * Invariant: each collection is told of in one order.
 * Must not know: how long anything takes.
 */
#define GC_THREADS
#include <gc.h>
#include <gc/gc_mark.h>

#include "watched.h"

enum { kHelpers = 3 };
static int events[1000], event_count, started, suspended, resumed, strangers;
static struct helper helpers[kHelpers];
static GC_word resized_to;
static int resizes;

static void happened(GC_EventType event) {
    if (event_count < 1000) events[event_count++] = event;
}
static void start(void) { ++started; }
static void thread_happened(GC_EventType event, void *thread) {
    int known = 0;
    for (int i = 0; i < kHelpers; ++i) known |= (pthread_t)thread == helpers[i].id;
    strangers += !known;
    suspended += event == GC_EVENT_THREAD_SUSPENDED;
    resumed += event == GC_EVENT_THREAD_UNSUSPENDED;
}
static void resized(GC_word size) {
    resized_to = size;
    ++resizes;
}

static void check_order(int collections) {
    static const int order[] = {GC_EVENT_START,
                                GC_EVENT_PRE_STOP_WORLD,
                                GC_EVENT_POST_STOP_WORLD,
                                GC_EVENT_MARK_START,
                                GC_EVENT_MARK_END,
                                GC_EVENT_PRE_START_WORLD,
                                GC_EVENT_POST_START_WORLD,
                                GC_EVENT_RECLAIM_START,
                                GC_EVENT_RECLAIM_END,
                                GC_EVENT_END};
    const int n = sizeof order / sizeof order[0];
    CHECK(event_count == n * collections, "%d events in %d collections", event_count, collections);
    for (int i = 0; i < event_count; ++i)
        CHECK(events[i] == order[i % n], "event %d of a collection is %d, not %d", i % n, events[i], order[i % n]);
}

int main(void) {
    GC_INIT();
    GC_set_on_collection_event(happened);
    GC_set_start_callback(start);
    for (int i = 0; i < 5; ++i) GC_gcollect();
    check_order(5);
    CHECK(started == 5, "the start callback was called %d times in 5 collections", started);

    GC_set_on_thread_event(thread_happened);
    for (int i = 0; i < kHelpers; ++i) helper_start(&helpers[i]);
    event_count = started = suspended = resumed = strangers = 0;
    for (int i = 0; i < 5; ++i) GC_gcollect();
    check_order(5);
    CHECK(suspended == 5 * kHelpers, "%d threads suspended in 5 collections with %d others", suspended, (int)kHelpers);
    CHECK(resumed == suspended, "%d threads suspended, %d resumed", suspended, resumed);
    CHECK(strangers == 0, "%d events of unknown threads", strangers);
    GC_set_on_thread_event(NULL);
    for (int i = 0; i < kHelpers; ++i) helper_end(&helpers[i]);

    /* And for collections that come by themselves. */
    event_count = started = 0;
    GC_word before = GC_get_gc_no();
    while (GC_get_gc_no() < before + 3) memset(GC_malloc(500), 1, 500);
    int collections = (int)(GC_get_gc_no() - before);
    check_order(collections);
    CHECK(started == collections, "the start callback was called %d times in %d collections", started, collections);
    GC_set_on_collection_event(NULL);
    GC_set_start_callback(NULL);
    GC_gcollect();
    CHECK(event_count == 10 * collections, "events after they were switched off");

    GC_set_on_heap_resize(resized);
    size_t heap = GC_get_heap_size();
    CHECK(GC_expand_hp(16 << 20) == 1, "GC_expand_hp failed");
    CHECK(resizes >= 1 && resized_to >= heap + (16 << 20), "%d calls, the last one for %lu bytes, after %zu and 16 MiB",
          resizes, (unsigned long)resized_to, heap);
    return 0;
}
