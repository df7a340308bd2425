/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: random graphs of objects of all kinds beside a hidden oracle that knows what can be reached.
 * Invariant: nothing reachable is lost or changed, no finalizer runs on it; most of the unreachable is found dead.
 * Must not know: how a collector decides.
 */
/* usage: shadow_graph [-v] [operations] [seed]
 *
 * Roots are static places, places on main's stack, an added range, and uncollectable objects. The oracle keeps the
 * addresses complemented. An object's words are its number, its edges at random words, and a pattern elsewhere. */
#include <gc.h>
#include <gc/gc_typed.h>
#include <sys/mman.h>

#include "check.h"

enum { kEdges = 4, kStatic = 48, kOnStack = 24, kAdded = 24, kRoots = kStatic + kOnStack + kAdded, kNone = -1 };
enum kind { kPointers, kTyped, kPointerFree, kUncollectable };

struct node {
    void *link;       /* complemented; 0 when it has died, or is about to be finalized */
    void *long_link;  /* the same, if there is one */
    uintptr_t hidden; /* complemented, stays */
    size_t size, words;
    enum kind kind;
    int edges;
    unsigned at[kEdges];   /* which word */
    int to[kEdges];        /* which node */
    size_t offset[kEdges]; /* how far into it the edge points */
    unsigned char has_long, finalizable, finalized, freed, reachable;
};

static struct node *nodes;
static int node_count, capacity, *work, growing;
static void *volatile static_roots[kStatic], *volatile *stack_roots, *volatile *added_roots;
static int root_to[kRoots];
static uint64_t seed_of_run, state;
static long collections, most_reachable, deaths, finalizations, revivals;

static uint64_t roll(uint64_t n) { return next_random(&state) % n; }

static void *volatile *root(int i) {
    if (i < kStatic) return &static_roots[i];
    return i < kStatic + kOnStack ? &stack_roots[i - kStatic] : &added_roots[i - kStatic - kOnStack];
}

static GC_word filler(int n, size_t word) { return mixed((uint64_t)n * 65537 + word) | (GC_word)0xfff0000000000000u; }
static GC_word *address(const struct node *node) { return (GC_word *)~node->hidden; }

/* The whole of an object: its number, its edges, its pattern, and the bytes behind the last word. */
static void verify(int n, const char *when) {
    const struct node *node = &nodes[n];
    const GC_word *words = address(node);
    unsigned edge_words = 0;
    for (int e = 0; e < node->edges; ++e) {
        GC_word expected = node->to[e] == kNone ? 0 : (GC_word)address(&nodes[node->to[e]]) + node->offset[e];
        CHECK(words[node->at[e]] == expected, "seed %lu: edge %d of object %d (%zu bytes) changed %s",
              (unsigned long)seed_of_run, e, n, node->size, when);
        if (node->at[e] < 32) edge_words |= 1u << node->at[e];
    }
    for (size_t w = 0; w < node->words; ++w) {
        if (w < 32 && edge_words >> w & 1) continue;
        CHECK(words[w] == filler(n, w), "seed %lu: word %zu of object %d (%zu bytes, kind %d) changed %s",
              (unsigned long)seed_of_run, w, n, node->size, (int)node->kind, when);
    }
    for (size_t i = node->words * sizeof(GC_word); i < node->size; ++i)
        CHECK(((const unsigned char *)words)[i] == (unsigned char)(n + (int)i),
              "seed %lu: byte %zu of object %d changed %s", (unsigned long)seed_of_run, i, n, when);
}

/* Which nodes can be reached from what is on the work list already. */
static int spread(int todo) {
    int count = 0;
    while (todo > 0) {
        const struct node *node = &nodes[work[--todo]];
        ++count;
        for (int e = 0; e < node->edges; ++e) {
            int to = node->to[e];
            if (to == kNone || nodes[to].reachable) continue;
            nodes[to].reachable = 1;
            work[todo++] = to;
        }
    }
    return count;
}

static int find_reachable(void) {
    int todo = 0;
    for (int n = 0; n < node_count; ++n) {
        nodes[n].reachable = nodes[n].kind == kUncollectable && !nodes[n].freed;
        if (nodes[n].reachable) work[todo++] = n;
    }
    for (int r = 0; r < kRoots; ++r) {
        int to = root_to[r];
        if (to == kNone || nodes[to].reachable) continue;
        nodes[to].reachable = 1;
        work[todo++] = to;
    }
    return spread(todo);
}

NOINLINE static void set_root(int r, int to) {
    *root(r) = to == kNone ? NULL : (char *)address(&nodes[to]) + roll(nodes[to].size + 1);
    root_to[r] = to;
}

/* The holder's address must be safe to use: it is reachable, or its link stands. */
NOINLINE static void set_edge(int from, int e, int to) {
    struct node *node = &nodes[from];
    node->to[e] = to;
    node->offset[e] = to == kNone ? 0 : roll(nodes[to].size + 1);
    address(node)[node->at[e]] = to == kNone ? 0 : (GC_word)address(&nodes[to]) + node->offset[e];
}

static void finalize(void *object, void *cd) {
    int n = (int)(intptr_t)cd;
    struct node *node = &nodes[n];
    CHECK(address(node) == object, "seed %lu: the finalizer of object %d got another", (unsigned long)seed_of_run, n);
    find_reachable();
    CHECK(!node->reachable, "seed %lu: reachable object %d was finalized", (unsigned long)seed_of_run, n);
    CHECK(!node->finalized, "seed %lu: object %d was finalized twice", (unsigned long)seed_of_run, n);
    CHECK(!node->has_long || node->long_link != NULL, "seed %lu: the long link of object %d went before its finalizer",
          (unsigned long)seed_of_run, n);
    node->finalized = 1;
    ++finalizations;
    /* Everything that it refers to is still whole. */
    for (int i = 0; i < node_count; ++i) nodes[i].reachable = 0;
    node->reachable = 1;
    work[0] = n;
    spread(1);
    for (int i = 0; i < node_count; ++i)
        if (nodes[i].reachable) verify(i, "before its finalizer or that of one that refers to it");
    /* Some of those that refer to nothing come back. */
    if (node->edges == 0 && roll(4) == 0) {
        set_root((int)roll(kRoots), n);
        node->link = (void *)node->hidden;
        CHECK(GC_general_register_disappearing_link(&node->link, object) == GC_SUCCESS, "no link for a revived object");
        ++revivals;
    }
}

/* In times of growth a new object takes what was in the root before, or finds a place below it. */
NOINLINE static void place(int r, int n) {
    int before = root_to[r];
    if (growing && before != kNone) {
        if (nodes[n].edges > 0) {
            set_root(r, n);
            set_edge(n, 0, before);
            return;
        }
        for (int e = 1; e < nodes[before].edges; ++e) {
            if (nodes[before].to[e] != kNone) continue;
            set_edge(before, e, n);
            return;
        }
        if (roll(4) != 0) return; /* garbage at once */
    }
    set_root(r, n);
}

static GC_word descriptor_of(const struct node *node) {
    GC_word bitmap[1] = {0};
    for (int e = 0; e < node->edges; ++e) GC_set_bit(bitmap, node->at[e]);
    return GC_make_descriptor(bitmap, node->words < 32 ? node->words : 32);
}

/* 1 byte to 100 KiB, small ones more often. */
static size_t roll_size(void) {
    size_t most = (size_t)1 << (3 + roll(9));
    if (roll(100) == 0) most = 100 * 1024;
    return 1 + roll(most);
}

NOINLINE static void make_node(int r) {
    int n = node_count;
    struct node *node = &nodes[n];
    uint64_t which = roll(20);
    node->kind = which < 11 ? kPointers : which < 14 ? kTyped : which < 19 ? kPointerFree : kUncollectable;
    if (node->kind == kUncollectable && roll(3) != 0) node->kind = kPointers;
    node->size = roll_size();
    node->words = node->size / sizeof(GC_word);
    if (node->kind != kPointerFree) {
        for (uint64_t wanted = roll(kEdges + 1); wanted > 0 && node->words > 1; --wanted) {
            unsigned at = 1 + (unsigned)roll((node->words < 32 ? node->words : 32) - 1);
            int used = 0;
            for (int e = 0; e < node->edges; ++e) used |= node->at[e] == at;
            if (used) continue;
            node->at[node->edges] = at;
            node->to[node->edges++] = kNone;
        }
    }
    if (node->edges == 0 && node->kind == kTyped) node->kind = kPointers;
    GC_word *words = NULL;
    switch (node->kind) {
        case kPointers:
            words = GC_malloc(node->size);
            break;
        case kTyped:
            words = GC_malloc_explicitly_typed(node->size, descriptor_of(node));
            break;
        case kPointerFree:
            words = GC_malloc_atomic(node->size);
            break;
        case kUncollectable:
            words = GC_malloc_uncollectable(node->size);
            break;
    }
    CHECK(words != NULL, "no memory for %zu bytes", node->size);
    if (node->kind != kPointerFree)
        for (size_t i = 0; i < node->size; ++i)
            CHECK(((unsigned char *)words)[i] == 0, "byte %zu of a new object of %zu is not zero", i, node->size);
    for (size_t w = 0; w < node->words; ++w) words[w] = filler(n, w);
    for (size_t i = node->words * sizeof(GC_word); i < node->size; ++i)
        ((unsigned char *)words)[i] = (unsigned char)(n + (int)i);
    for (int e = 0; e < node->edges; ++e) words[node->at[e]] = 0;
    node->hidden = ~(uintptr_t)words;
    ++node_count;
    if (node->kind != kUncollectable || roll(2) == 0) {
        place(r, n);
    }
    node->link = (void *)node->hidden;
    CHECK(GC_general_register_disappearing_link(&node->link, words) == GC_SUCCESS, "no weak link");
    if (node->kind == kUncollectable) return;
    if (roll(4) == 0) {
        node->has_long = 1;
        node->long_link = (void *)node->hidden;
        CHECK(GC_register_long_link(&node->long_link, words) == GC_SUCCESS, "no long link");
    }
    if (roll(6) == 0) {
        node->finalizable = 1;
        void *cd = (void *)(intptr_t)n;
        switch (roll(3)) {
            case 0:
                GC_register_finalizer(words, finalize, cd, NULL, NULL);
                break;
            case 1:
                GC_register_finalizer_ignore_self(words, finalize, cd, NULL, NULL);
                break;
            default:
                GC_register_finalizer_no_order(words, finalize, cd, NULL, NULL);
                break;
        }
    }
}

static void expect_whole(const char *when) {
    long reachable = find_reachable();
    if (reachable > most_reachable) most_reachable = reachable;
    for (int n = 0; n < node_count; ++n) {
        struct node *node = &nodes[n];
        if (!node->reachable) continue;
        CHECK(node->link != NULL, "seed %lu: the weak link of reachable object %d (%zu bytes, kind %d) was cleared %s",
              (unsigned long)seed_of_run, n, node->size, (int)node->kind, when);
        CHECK(!node->has_long || node->long_link != NULL,
              "seed %lu: the long link of reachable object %d was cleared %s", (unsigned long)seed_of_run, n, when);
        verify(n, when);
    }
}

static void run_finalizers(void) {
    while (GC_invoke_finalizers() != 0) continue;
}

static void collect_and_verify(void) {
    scrub();
    GC_gcollect();
    ++collections;
    run_finalizers();
    expect_whole("by a collection");
    scrub();
}

/* Some node that can be reached, or kNone. A few steps from a root. */
static int roll_reachable(void) {
    int n = root_to[roll(kRoots)];
    for (uint64_t steps = roll(6); n != kNone && steps > 0 && nodes[n].edges > 0; --steps) {
        int to = nodes[n].to[roll((uint64_t)nodes[n].edges)];
        if (to == kNone) break;
        n = to;
    }
    return n;
}

static void *reveal(void *argument) {
    int n = *(int *)argument, r = (int)roll(kRoots);
    if (nodes[n].link != NULL) set_root(r, n);
    return NULL;
}

/* A finalizer that has yet to run may see it by way of objects whose links are gone. */
static int may_be_seen(int n) {
    int todo = 0;
    for (int i = 0; i < node_count; ++i) {
        nodes[i].reachable = nodes[i].finalizable && !nodes[i].finalized;
        if (nodes[i].reachable) work[todo++] = i;
    }
    spread(todo);
    for (int i = 0; i < node_count; ++i) {
        if (!nodes[i].reachable || nodes[i].link != NULL) continue;
        for (int e = 0; e < nodes[i].edges; ++e)
            if (nodes[i].to[e] == n) return 1;
    }
    return 0;
}

/* By hand: nothing may refer to it any more. */
NOINLINE static void free_node(int n) {
    struct node *node = &nodes[n];
    if (node->finalizable || node->link == NULL) return;
    void *volatile still = address(node); /* a collection beside the program must not find it dead meanwhile */
    for (int r = 0; r < kRoots; ++r)
        if (root_to[r] == n) set_root(r, kNone);
    for (int i = 0; i < node_count; ++i)
        for (int e = 0; e < nodes[i].edges; ++e) {
            if (nodes[i].to[e] != n) continue;
            if (nodes[i].link != NULL) set_edge(i, e, kNone);
        }
    if (may_be_seen(n)) return; /* asked last: beside the program a collection may queue a finalizer at any time */
    CHECK(GC_unregister_disappearing_link(&node->link) == 1, "the link of a live object is not registered");
    if (node->has_long) CHECK(GC_unregister_long_link(&node->long_link) == 1, "the long link is not registered");
    node->has_long = 0;
    GC_free(still);
    node->link = NULL;
    node->freed = 1;
    for (int e = 0; e < node->edges; ++e) node->to[e] = kNone;
    node->edges = 0;
}

/* With GC_ENABLE_INCREMENTAL one is nearly always under way, while the graph changes. */
static void collect_beside(void) {
    if (!GC_is_incremental_mode()) return;
    if (roll(100) == 0) GC_start_incremental_collection();
    if (roll(2000) == 0) {
        while (GC_collect_a_little()) continue;
        expect_whole("beside the program");
    }
}

/* With GC_ENABLE_GENERATIONAL a minor collection comes often. What it frees may be less than all that is unreachable. */
static void collect_young(void) {
    static int (*young)(void);
    if (getenv("GC_ENABLE_GENERATIONAL") == NULL) return;
    if (young == NULL) *(void **)&young = dlsym(RTLD_DEFAULT, "gr_gc_collect_young");
    CHECK(young != NULL, "the library has no young objects");
    if (roll(100) != 0) return;
    CHECK(young() == 1, "no minor collection");
    if (roll(20) == 0) expect_whole("by a minor collection");
}

static void operate(void) {
    uint64_t what = roll(100);
    collect_beside();
    collect_young();
    if (roll(2000) == 0) growing = !growing;
    if (growing && what >= 70 && what < 90) what = roll(10) == 0 ? what : 0; /* drop less */
    int n = roll_reachable();
    if (what < 40) {
        if (node_count < capacity) make_node((int)roll(kRoots));
    } else if (what < 70) {
        int to = roll_reachable();
        if (n != kNone && to != kNone && nodes[n].edges > 0) set_edge(n, (int)roll((uint64_t)nodes[n].edges), to);
    } else if (what < 78) {
        if (n != kNone && nodes[n].edges > 0) set_edge(n, (int)roll((uint64_t)nodes[n].edges), kNone);
    } else if (what < 90) {
        set_root((int)roll(kRoots), kNone);
    } else if (what < 94) {
        set_root((int)roll(kRoots), n);
    } else if (what < 96 && node_count > 0) {
        int weak = (int)roll((uint64_t)node_count); /* an object without references, if it has not died yet */
        GC_call_with_alloc_lock(reveal, &weak);
    } else if (what < 98 && node_count > 0) {
        int some = (int)roll((uint64_t)node_count);
        find_reachable();
        if (nodes[some].reachable && (nodes[some].kind == kUncollectable || roll(2) == 0)) free_node(some);
    } else if (roll(GC_is_incremental_mode() ? 120 : 12) == 0) {
        collect_and_verify();
    }
    if (roll(8) == 0) run_finalizers();
}

static void drop_everything(void) {
    for (int r = 0; r < kRoots; ++r) set_root(r, kNone);
    run_finalizers();
    for (int n = 0; n < node_count; ++n)
        if (nodes[n].kind == kUncollectable && !nodes[n].freed) free_node(n);
    for (int i = 0; i < 6; ++i) collect_and_verify();
}

/* Those that hold each other with ordered finalizers are never finalized, so finalizable ones and all that they reach
 * are left out. */
static void report(int verbosely) {
    for (int n = 0; n < node_count; ++n) nodes[n].reachable = 0;
    int todo = 0;
    for (int n = 0; n < node_count; ++n)
        if (nodes[n].finalizable && !nodes[n].finalized) {
            nodes[n].reachable = 1;
            work[todo++] = n;
        }
    spread(todo);
    long all = 0, left = 0;
    for (int n = 0; n < node_count; ++n) {
        if (nodes[n].freed || nodes[n].reachable) continue;
        ++all;
        left += nodes[n].link != NULL;
    }
    deaths = all - left;
    double retained = all != 0 ? 100.0 * (double)left / (double)all : 0;
    if (verbosely)
        printf(
            "%d objects, at most %ld reachable, %ld collections, %ld died, %ld finalized, %ld revived, "
            "%.2f %% retained, %lu collections of all kinds\n",
            node_count, most_reachable, collections, deaths, finalizations, revivals, retained,
            (unsigned long)GC_get_gc_no());
    CHECK(retained < 20, "seed %lu: %.1f %% of what died is retained", (unsigned long)seed_of_run, retained);
    CHECK(node_count < 1000 || (finalizations > 0 && deaths > 0), "nothing was finalized, or nothing died");
}

int main(int argc, char **argv) {
    long operations = argument(argc, argv, 0, 30000);
    void *volatile places[kOnStack] = {NULL};
    seed_of_run = (uint64_t)argument(argc, argv, 1, 1);
    state = seed_of_run << 32;
    stack_roots = places;
    capacity = (int)operations;
    nodes = calloc((size_t)capacity, sizeof *nodes); /* libc's memory is not scanned, and holds no address anyway */
    work = calloc((size_t)capacity, sizeof *work);
    CHECK(nodes != NULL && work != NULL, "no memory for the oracle");
    GC_INIT();
    GC_set_finalize_on_demand(1);
    GC_set_warn_proc(GC_ignore_warn_proc); /* cycles are meant */
    added_roots = mmap(NULL, kAdded * sizeof(void *), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(added_roots != MAP_FAILED, "no memory");
    GC_add_roots((void *)added_roots, (void *)(added_roots + kAdded));
    for (int r = 0; r < kRoots; ++r) root_to[r] = kNone;
    for (long i = 0; i < operations; ++i) operate();
    expect_whole("at the end");
    drop_everything();
    report(verbose(argc, argv));
    return 0;
}
