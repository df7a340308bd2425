/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: how often a collection is due: on a fragmented heap, after GC_expand_hp, and by what the environment says.
 * Invariant: numbers of collections only, which do not depend on time.
 * Must not know: how the collector paces itself.
 */
#include <gc.h>
#include <sys/wait.h>

#include "check.h"

enum { kMiB = 1 << 20 };

struct object {
    struct object *next;
};

static struct object *kept, *list;
static void *volatile last;

/* The cells lie all over the heap, and nothing that is free between them serves objects of another size. */
static NOINLINE void fragment(size_t size, size_t bytes) {
    struct object *all = NULL;
    for (size_t i = 0; i < bytes / size; ++i) {
        struct object *o = GC_MALLOC(size - 1);
        struct object **head = i % 8 == 0 ? &kept : &all;
        o->next = *head;
        *head = o;
    }
    last = all;
    last = NULL;
}

static GC_word collections_while_growing(size_t size, size_t bytes) {
    GC_word before = GC_get_gc_no();
    for (size_t i = 0; i < bytes / size; ++i) {
        struct object *o = GC_MALLOC(size - 1);
        o->next = list;
        list = o;
    }
    return GC_get_gc_no() - before;
}

static GC_word collections_while_dropping(size_t bytes) {
    GC_word before = GC_get_gc_no();
    for (size_t i = 0; i < bytes / 64; ++i) last = GC_MALLOC(63);
    return GC_get_gc_no() - before;
}

/* An eighth of 96 MiB stays, and grows to 108 MiB, by two thirds at each collection and by a few MiB at least. */
static int is_seldom_on_a_fragmented_heap(void) {
    fragment(32, 96 * kMiB);
    clear_stack();
    GC_gcollect();
    return collections_while_growing(64, 96 * kMiB) <= 4;
}
static int is_seldom_for_large_objects(void) {
    fragment(48, 96 * kMiB);
    clear_stack();
    GC_gcollect();
    return collections_while_growing(4096, 96 * kMiB) <= 4;
}
static int is_several_times(void) { return collections_while_dropping(64 * kMiB) >= 3; }
static int is_often(void) { return collections_while_dropping(64 * kMiB) >= 32; }
static int is_once_at_most(void) {
    GC_gcollect();
    GC_word before = collections_while_dropping(64 * kMiB);
    GC_gcollect();
    return before + collections_while_dropping(64 * kMiB) <= 1;
}
static int expands_for_good(void) {
    CHECK(GC_expand_hp(100 * kMiB) == 1, "GC_expand_hp failed");
    return is_once_at_most();
}
static int has_least_bytes(void) {
    GC_set_min_bytes_allocd(100 * kMiB);
    return is_once_at_most();
}

static const struct {
    const char *name, *value;
    int (*holds)(void);
    const char *what;
} cases[] = {{"GC_MARKERS", "1", is_seldom_on_a_fragmented_heap, "on a fragmented heap"},
             {"GC_MARKERS", "1", is_seldom_for_large_objects, "for large objects on a fragmented heap"},
             {"GC_MARKERS", "1", is_several_times, "by default"},
             {"GC_MARKERS", "1", expands_for_good, "after GC_expand_hp"},
             {"GC_MARKERS", "1", has_least_bytes, "after GC_set_min_bytes_allocd"},
             {"GC_INITIAL_HEAP_SIZE", "100M", is_once_at_most, "with an initial heap"},
             {"GC_FREE_SPACE_DIVISOR", "30", is_often, "with a large divisor"}};

int main(void) {
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        pid_t child = fork();
        if (child == 0) {
            setenv(cases[i].name, cases[i].value, 1);
            GC_INIT();
            _exit(cases[i].holds() ? 0 : 1);
        }
        int status;
        CHECK(child > 0 && waitpid(child, &status, 0) == child, "no process");
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: collections are not as frequent as they should be",
              cases[i].what);
    }
    return 0;
}
