/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: random graphs of objects of all kinds, and of ephemerons where the library has some, beside a hidden oracle that
 *    knows what can be reached.
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
enum kind { kPointers, kTyped, kPointerFree, kUncollectable, kEphemeron };

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
    unsigned revived;    /* how often it came back after its link and its ephemerons were cleared */
    int key, value;      /* of an ephemeron: nodes */
    unsigned of_revived; /* how often the key had come back when the ephemeron was made */
};

static struct node *nodes;
static int node_count, capacity, *work, growing;
static void *volatile static_roots[kStatic], *volatile *stack_roots, *volatile *added_roots;
static int root_to[kRoots];
static uint64_t seed_of_run, state;
static int *ephemerons, ephemeron_count; /* nodes */
static long collections, most_reachable, deaths, finalizations, revivals, cleared;

/* Not in the original. */
static void *(*ephemeron_new)(const void *key, const void *value);
static void *(*ephemeron_key)(const void *ephemeron);
static void *(*ephemeron_value)(const void *ephemeron);
static void (*ephemeron_clear)(void *ephemeron);

static uint64_t roll(uint64_t n) { return next_random(&state) % n; }

static void *volatile *root(int i) {
    if (i < kStatic) return &static_roots[i];
    return i < kStatic + kOnStack ? &stack_roots[i - kStatic] : &added_roots[i - kStatic - kOnStack];
}

static GC_word filler(int n, size_t word) { return mixed((uint64_t)n * 65537 + word) | (GC_word)0xfff0000000000000u; }
static GC_word *address(const struct node *node) { return (GC_word *)~node->hidden; }

/* Whether the collector has found the key dead, by the key's link, since the ephemeron was made. */
static int has_dead_key(const struct node *node) {
    return node->key == kNone || nodes[node->key].link == NULL || nodes[node->key].revived != node->of_revived;
}

/* An ephemeron is cleared in the collection that clears its key's link, both of its halves, and not before. The lock keeps
 * one that runs beside the program from ending between two looks. */
static void *verify_ephemeron(void *argument) {
    int n = *(int *)argument;
    const struct node *node = &nodes[n];
    const void *key = ephemeron_key(address(node)), *value = ephemeron_value(address(node));
    if (has_dead_key(node)) {
        CHECK(key == NULL && value == NULL, "seed %lu: ephemeron %d is not cleared", (unsigned long)seed_of_run, n);
        ++cleared;
    } else {
        CHECK(key == address(&nodes[node->key]) && value == address(&nodes[node->value]),
              "seed %lu: ephemeron %d was cleared or changed", (unsigned long)seed_of_run, n);
    }
    return NULL;
}

/* The whole of an object: its number, its edges, its pattern, and the bytes behind the last word. */
static void verify(int n, const char *when) {
    const struct node *node = &nodes[n];
    const GC_word *words = address(node);
    unsigned edge_words = 0;
    if (node->kind == kEphemeron) {
        GC_call_with_alloc_lock(verify_ephemeron, &n);
        return;
    }
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

/* Puts the value of an ephemeron on the work list whose key is reached; by_links: whose key was not found dead, which a
 * collection beside the program may change at any time. Returns the new length of the list. */
static int spread_through_ephemerons(int todo, int by_links) {
    if (by_links && GC_is_incremental_mode()) return todo;
    for (int i = 0; i < ephemeron_count; ++i) {
        const struct node *node = &nodes[ephemerons[i]];
        if (!node->reachable || has_dead_key(node) || nodes[node->value].reachable) continue;
        if (!by_links && !nodes[node->key].reachable) continue;
        nodes[node->value].reachable = 1;
        work[todo++] = node->value;
    }
    return todo;
}

/* Which nodes can be reached from what is on the work list already. */
static int spread(int todo, int by_links) {
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
        if (todo == 0) todo = spread_through_ephemerons(todo, by_links);
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
    return spread(todo, 0);
}

/* A collection beside the program may end between any two changes of the graph. Without them stopped collections come
 * there, so that each run finds out where this test itself leaves an object without a reference that it still needs. */
static void collect_between_changes(void) {
    if (!GC_is_incremental_mode() && roll(100) == 0) GC_gcollect();
}

/* The object is held. */
NOINLINE static void set_root(int r, int to) {
    *root(r) = to == kNone ? NULL : (char *)address(&nodes[to]) + roll(nodes[to].size + 1);
    root_to[r] = to;
    collect_between_changes();
}

/* Both objects are held: reachable, or referred to by a local variable of a caller. */
NOINLINE static void set_edge(int from, int e, int to) {
    struct node *node = &nodes[from];
    node->to[e] = to;
    node->offset[e] = to == kNone ? 0 : roll(nodes[to].size + 1);
    address(node)[node->at[e]] = to == kNone ? 0 : (GC_word)address(&nodes[to]) + node->offset[e];
    collect_between_changes();
}

static void *address_if_linked(void *argument) {
    const struct node *node = &nodes[*(int *)argument];
    return node->link != NULL ? address(node) : NULL;
}

/* The address of an object that the collector has not found dead, and cannot while the caller keeps the address; or NULL.
 * The lock keeps a collection from ending between the look at the link and the making of the address. */
NOINLINE static void *hold(int n) { return GC_call_with_alloc_lock(address_if_linked, &n); }

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
    spread(1, 1);
    for (int i = 0; i < node_count; ++i)
        if (nodes[i].reachable) verify(i, "before its finalizer or that of one that refers to it");
    /* Some of those that refer to nothing come back. */
    if (node->edges == 0 && roll(4) == 0) {
        set_root((int)roll(kRoots), n);
        node->link = (void *)node->hidden;
        ++node->revived;
        CHECK(GC_general_register_disappearing_link(&node->link, object) == GC_SUCCESS, "no link for a revived object");
        ++revivals;
    }
}

/* In times of growth a new object takes what was in the root before, or finds a place below it. The caller holds the new
 * object until it has a link. */
NOINLINE static void place(int r, int n) {
    int before = root_to[r];
    if (growing && before != kNone) {
        if (nodes[n].edges > 0) {
            set_edge(n, 0, before); /* first: only the root may refer to what was there */
            set_root(r, n);
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
        case kEphemeron:
            break; /* made elsewhere */
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

/* A finalizer that has yet to run may see it by way of objects whose links are gone. */
static int may_be_seen(int n) {
    int todo = 0;
    for (int i = 0; i < node_count; ++i) {
        nodes[i].reachable = nodes[i].finalizable && !nodes[i].finalized;
        if (nodes[i].reachable) work[todo++] = i;
    }
    spread(todo, 1);
    for (int i = 0; i < node_count; ++i) {
        if (!nodes[i].reachable || nodes[i].link != NULL) continue;
        if (nodes[i].kind == kEphemeron && (nodes[i].key == n || nodes[i].value == n)) return 1;
        for (int e = 0; e < nodes[i].edges; ++e)
            if (nodes[i].to[e] == n) return 1;
    }
    return 0;
}

/* Of two objects that can be reached. Now and then nothing else refers to the value any more. */
NOINLINE static void make_ephemeron(int r, int key, int holder) {
    int e = (int)roll((uint64_t)nodes[holder].edges), value = nodes[holder].to[e], n = node_count;
    if (value == kNone) return;
    struct node *node = &nodes[n];
    void *made = ephemeron_new(address(&nodes[key]), address(&nodes[value]));
    CHECK(made != NULL, "no memory for an ephemeron");
    *node = (struct node){.hidden = ~(uintptr_t)made,
                          .size = 1,
                          .kind = kEphemeron,
                          .key = key,
                          .value = value,
                          .of_revived = nodes[key].revived};
    ephemerons[ephemeron_count++] = n;
    ++node_count;
    if (roll(2) == 0) set_edge(holder, e, kNone); /* while the holder can be reached: the place may be its root */
    place(r, n);
    node->link = (void *)node->hidden;
    CHECK(GC_general_register_disappearing_link(&node->link, made) == GC_SUCCESS, "no weak link");
}

/* What is freed by hand is no key or value any more. */
NOINLINE static void clear_ephemerons_of(int n) {
    for (int i = 0; i < ephemeron_count; ++i) {
        struct node *node = &nodes[ephemerons[i]];
        if (node->key != n && node->value != n) continue;
        void *volatile ephemeron = hold(ephemerons[i]);
        if (ephemeron == NULL) continue;
        ephemeron_clear(ephemeron);
        node->key = kNone;
    }
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
            void *volatile holder = hold(i);
            if (holder != NULL) set_edge(i, e, kNone);
        }
    clear_ephemerons_of(n);
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
    } else if (what < 44 && ephemeron_new != NULL) {
        int holder = kNone;
        for (int tries = 0; tries < 20 && (n == kNone || holder == kNone || nodes[holder].edges == 0); ++tries) {
            if (n == kNone) n = roll_reachable();
            holder = roll_reachable();
        }
        if (node_count < capacity && n != kNone && holder != kNone && nodes[holder].edges > 0)
            make_ephemeron((int)roll(kRoots), n, holder);
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
        void *volatile held = hold(weak);
        if (held != NULL) set_root((int)roll(kRoots), weak);
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
    spread(todo, 1);
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
            "%d objects, at most %ld reachable, %ld collections, %ld died, %ld finalized, %ld revived, %d ephemerons, "
            "%ld looks at cleared ones, %.2f %% retained, %lu collections of all kinds\n",
            node_count, most_reachable, collections, deaths, finalizations, revivals, ephemeron_count, cleared,
            retained, (unsigned long)GC_get_gc_no());
    CHECK(retained < 20, "seed %lu: %.1f %% of what died is retained", (unsigned long)seed_of_run, retained);
    CHECK(node_count < 1000 || (finalizations > 0 && deaths > 0), "nothing was finalized, or nothing died");
    CHECK(node_count < 1000 || ephemeron_new == NULL || (ephemeron_count > 0 && cleared > 0),
          "no ephemeron was cleared");
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
    ephemerons = calloc((size_t)capacity, sizeof *ephemerons);
    CHECK(nodes != NULL && work != NULL && ephemerons != NULL, "no memory for the oracle");
    *(void **)&ephemeron_new = dlsym(RTLD_DEFAULT, "gr_gc_ephemeron_new");
    *(void **)&ephemeron_key = dlsym(RTLD_DEFAULT, "gr_gc_ephemeron_key");
    *(void **)&ephemeron_value = dlsym(RTLD_DEFAULT, "gr_gc_ephemeron_value");
    *(void **)&ephemeron_clear = dlsym(RTLD_DEFAULT, "gr_gc_ephemeron_clear");
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
