/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: collections of young objects: what they free, and that old objects keep the young ones to which they refer,
 *    whoever wrote the address: the program, the kernel, another thread.
 * Invariant: an object that can be reached is whole after each collection; an old object dies in a full collection only.
 * Must not know: how it is found out what was written.
 */
#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS
#include <errno.h>
#include <gc.h>
#include <gc/gc_disclaim.h>
#include <gc/gc_typed.h>

#include "granary/gc.h"
#include "helper.h"

enum { kOld = 20000, kYoung = 50000, kLarge = 100000 };
struct node {
    struct node *next, *young;
    uintptr_t number;
};
static struct node *list;
static long dead;
static int (*generations)(void), (*collect_young)(void), (*statistics_get)(struct gr_gc_statistics *);

static void count_dead(void *object, void *data) {
    (void)object, (void)data;
    ++dead;
}

static struct node *make(uintptr_t number) {
    struct node *node = GC_MALLOC(sizeof *node);
    CHECK(node != NULL && node->next == NULL && node->young == NULL && node->number == 0, "no memory, or not zeroed");
    node->number = number;
    return node;
}

NOINLINE static void fill(void) {
    list = NULL;
    for (uintptr_t i = 0; i < kOld; ++i) {
        struct node *node = make(i);
        node->next = list;
        list = node;
    }
}

static void expect_list(const char *when) {
    uintptr_t wanted = kOld;
    for (struct node *node = list; node != NULL; node = node->next)
        CHECK(node->number == --wanted, "%s: old object %lu is not there", when, (unsigned long)wanted);
    CHECK(wanted == 0, "%s: the list ends at %lu", when, (unsigned long)wanted);
}

static struct node *old(uintptr_t number) {
    struct node *node = list;
    while (node->number != number) node = node->next;
    return node;
}

NOINLINE static void expect_young(uintptr_t number, const char *when) {
    const struct node *young = old(number)->young;
    CHECK(young != NULL && young->number == ~number, "%s: the young object of %lu was lost", when,
          (unsigned long)number);
}

/* What was freed is taken again by objects of the same size, so that a lost object is overwritten. */
NOINLINE static void make_garbage(void) {
    for (uintptr_t i = 0; i < kYoung; ++i) make(1);
}

static void collect(const char *when) {
    GC_word before = GC_get_gc_no();
    scrub();
    CHECK(collect_young() == 1, "%s: no collection", when);
    CHECK(GC_get_gc_no() == before + 1, "%s: %lu collections", when, (unsigned long)(GC_get_gc_no() - before));
    while (GC_invoke_finalizers() != 0) continue;
    make_garbage();
    expect_list(when);
}

NOINLINE static void drop_young(void) {
    for (uintptr_t i = 0; i < kYoung; ++i) GC_register_finalizer(make(2), count_dead, NULL, NULL, NULL);
}

static void garbage_goes(void) {
    dead = 0;
    drop_young();
    collect("young garbage");
    CHECK(dead > kYoung * 9 / 10, "of %d young objects without a reference %ld were found dead", kYoung, dead);
}

NOINLINE static void store_in_each_way(void) {
    old(1)->young = make(~(uintptr_t)1);
    struct node *young = make(~(uintptr_t)2);
    memcpy(&old(2)->young, &young, sizeof young);
    int ends[2];
    CHECK(pipe(ends) == 0, "pipe: errno %d", errno);
    young = make(~(uintptr_t)3);
    CHECK(write(ends[1], &young, sizeof young) == sizeof young, "write: errno %d", errno);
    CHECK(read(ends[0], &old(3)->young, sizeof young) == sizeof young, "read: errno %d", errno);
    close(ends[0]), close(ends[1]);
    __atomic_store_n(&old(4)->young, make(~(uintptr_t)4), __ATOMIC_RELEASE);
}

static void *store_by_thread(void *data) {
    (void)data;
    struct GC_stack_base base;
    GC_get_stack_base(&base);
    GC_register_my_thread(&base);
    old(5)->young = make(~(uintptr_t)5);
    GC_unregister_my_thread();
    return NULL;
}

static void old_objects_keep(void) {
    store_in_each_way();
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, store_by_thread, NULL) == 0, "no thread");
    pthread_join(thread, NULL);
    for (int round = 0; round < 3; ++round) {
        collect("after the writes");
        for (uintptr_t i = 1; i <= 5; ++i) expect_young(i, "after the writes");
    }
}

/* A chain of young objects below an old one, of which each end is written after the object before it has become old. */
NOINLINE static void chain_grows(void) {
    struct node *end = old(6);
    for (uintptr_t i = 0; i < 8; ++i) {
        end->young = make(100 + i);
        end = end->young;
        collect("a growing chain");
    }
    const struct node *node = old(6);
    for (uintptr_t i = 0; i < 8; ++i) {
        node = node->young;
        CHECK(node != NULL && node->number == 100 + i, "object %lu of the chain was lost", (unsigned long)i);
    }
}

NOINLINE static void drop_old(void) { GC_register_finalizer(old(7)->young = make(3), count_dead, NULL, NULL, NULL); }

/* So many finalizers were registered before that a collection of the whole heap may have been due in between: what it
   found alive then is collected first. */
static void old_garbage_waits(void) {
    GC_gcollect();
    while (GC_invoke_finalizers() != 0) continue;
    drop_old();
    collect("before an old object dies");
    dead = 0;
    old(7)->young = NULL;
    collect("an old object without a reference");
    CHECK(dead == 0, "an old object was freed by a collection of young objects");
    scrub();
    GC_gcollect();
    while (GC_invoke_finalizers() != 0) continue;
    CHECK(dead == 1, "%ld of 1 old object were found dead", dead);
    expect_list("a full collection");
}

/* Objects of other kinds and of several units, each the only one that refers to a young object. */
NOINLINE static void other_kinds(void) {
    static GC_word bitmap[1] = {1};
    struct node **kept = GC_MALLOC_UNCOLLECTABLE(kLarge);
    struct node **large = GC_MALLOC(kLarge);
    struct node **typed = GC_malloc_explicitly_typed(2 * sizeof(void *), GC_make_descriptor(bitmap, 1));
    old(8)->young = (struct node *)large;
    old(9)->young = (struct node *)typed;
    const size_t last = kLarge / sizeof *kept - 1;
    for (int round = 0; round < 3; ++round) {
        kept[last] = make(20), large[last] = make(21), typed[0] = make(22);
        collect("other kinds");
        CHECK(kept[last]->number == 20, "an uncollectable object lost a young one");
        CHECK(large[last]->number == 21, "a large object lost a young one");
        CHECK(typed[0]->number == 22, "a typed object lost a young one");
    }
    GC_FREE(kept);
}

static uint64_t live_blocks(void) {
    struct gr_gc_statistics statistics = {.size = sizeof statistics};
    CHECK(statistics_get(&statistics) == 0, "no statistics");
    return statistics.live_blocks;
}

/* Blocks that the program freed wait in its magazines. An old one among them does not count as old any more. */
NOINLINE static void old_is_freed(void) {
    enum { kFreed = 300 };
    for (uintptr_t i = 2000; i < 2000 + kFreed; ++i) old(i)->young = make(i);
    GC_gcollect();
    const uint64_t before = live_blocks();
    for (uintptr_t i = 2000; i < 2000 + kFreed; ++i) {
        struct node *young = old(i)->young;
        old(i)->young = NULL;
        GC_FREE(young);
    }
    CHECK(collect_young() == 1, "no collection");
    const uint64_t after = live_blocks();
    CHECK(after + kFreed * 9 / 10 < before, "%lu objects lived, %d were freed, and %lu live", (unsigned long)before,
          kFreed, (unsigned long)after);
}

static void GC_CALLBACK ignore(void *object, void *data) { (void)object, (void)data; }

/* Objects whose death the program is told of, and objects that stay until they are freed, at places that were cached when a
 * minor collection came. */
NOINLINE static void cached_places(int is_told) {
    enum { kRounds = 3, kPlaces = 200, kMore = 4000 };
    static const int counts[kRounds] = {kPlaces, kPlaces, kMore};
    static const struct GC_finalizer_closure closure = {ignore, NULL};
    static uintptr_t **objects[kRounds];
    for (int round = 0; round < kRounds; ++round) {
        if (round != 0) CHECK(collect_young() == 1, "no collection");
        objects[round] = GC_MALLOC_UNCOLLECTABLE((size_t)counts[round] * sizeof(void *));
        for (int i = 0; i < counts[round]; ++i) {
            objects[round][i] = is_told ? GC_finalized_malloc(96, &closure) : GC_MALLOC_UNCOLLECTABLE(96);
            objects[round][i][1] = ~(uintptr_t)round;
        }
        for (int i = 0; round == 0 && i < kPlaces; ++i)
            if (i % 10 != 0) GC_FREE(GC_base(objects[round][i]));
    }
    for (int round = 1; round < kRounds; ++round)
        for (int i = 0; i < counts[round]; ++i)
            CHECK(objects[round][i][1] == ~(uintptr_t)round, "object %d of round %d was handed out twice", i, round);
    for (int round = 0; round < kRounds; ++round) {
        for (int i = 0; i < counts[round]; ++i)
            if (round != 0 || i % 10 == 0) GC_FREE(GC_base(objects[round][i]));
        GC_FREE(objects[round]);
    }
}

/* A place that an old object had is young when it is taken again. */
NOINLINE static void freed_by_hand(void) {
    for (uintptr_t i = 10; i < 1000; ++i) old(i)->young = make(i);
    collect("before the frees");
    for (uintptr_t i = 10; i < 1000; ++i) {
        GC_FREE(old(i)->young);
        old(i)->young = make(~i);
        old(i)->young->young = make(~i);
    }
    for (int round = 0; round < 2; ++round) {
        collect("after the frees");
        for (uintptr_t i = 10; i < 1000; ++i) {
            expect_young(i, "after the frees");
            CHECK(old(i)->young->young->number == ~i, "an object that is young for the second time was lost");
        }
    }
}

NOINLINE static void link_young(void **link) {
    *link = (void *)~(uintptr_t)make(4);
    GC_general_register_disappearing_link(link, (void *)~(uintptr_t)*link);
}

static void links_go(void) {
    static void *links[100];
    for (int i = 0; i < 100; ++i) link_young(&links[i]);
    collect("weak links");
    int left = 0;
    for (int i = 0; i < 100; ++i) left += links[i] != NULL;
    CHECK(left < 10, "%d of 100 weak links to dead young objects stay", left);
}

/* A child has no watch of its own at first. */
static void in_child(void) {
    old(1001)->young = make(~(uintptr_t)1001);
    for (int round = 0; round < 3; ++round) {
        collect("in a child");
        expect_young(1001, "in a child");
        old(1001)->young = make(~(uintptr_t)1001);
    }
}

int main(void) {
    if (skip_on_bdwgc("it has no such interface")) return 0;
    GC_INIT();
    GC_init_finalized_malloc();
    GC_allow_register_threads();
    GC_set_finalize_on_demand(1);
    *(void **)&generations = dlsym(RTLD_DEFAULT, "gr_gc_collect_generations");
    *(void **)&collect_young = dlsym(RTLD_DEFAULT, "gr_gc_collect_young");
    *(void **)&statistics_get = dlsym(RTLD_DEFAULT, "gr_gc_statistics_get");
    CHECK(generations != NULL && collect_young != NULL && statistics_get != NULL, "the functions are not there");
    errno = 0;
    if (generations() != 0) {
        CHECK(errno == ENOSYS, "refused with errno %d", errno);
        not_available("reports of written pages");
    }
    CHECK(generations() == 0, "a second call fails");
    fill();
    collect("the first collection"); /* of the whole heap, since nothing is old yet */
    garbage_goes();
    old_objects_keep();
    chain_grows();
    old_garbage_waits();
    other_kinds();
    cached_places(0);
    cached_places(1);
    freed_by_hand();
    links_go();
    run_apart("in a child", in_child);
    old_is_freed();
    GC_gcollect();
    GC_gcollect(); /* what was free before this one has the number of the marks in it, but not after it */
    garbage_goes();
    return 0;
}
