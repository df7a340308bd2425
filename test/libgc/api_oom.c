/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: the function that is called when memory is short: by sizes that cannot be, and by a limit of the heap.
 * Invariant: what it returns is the allocator's result, and the heap works on afterwards.
 * Must not know: how the heap grows.
 */
#include <gc.h>
#include <gc/gc_inline.h>
#include <gc/gc_mark.h>
#include <gc/gc_typed.h>

#include "check.h"

static char answer[16];
static int calls;
static size_t asked;
static int give_null;

static void *out_of_memory(size_t size) {
    ++calls;
    asked = size;
    void *p = GC_malloc(16); /* allowed: no lock is held */
    if (p == NULL) FAIL("no 16 bytes in the out-of-memory function");
    return give_null ? NULL : answer;
}

static void *out_of_memory_at_limit(size_t size) {
    (void)size;
    ++calls;
    return NULL;
}

static void *kind_0(size_t n) { return GC_malloc_kind(n, 0); }
static void *generic(size_t n) { return GC_generic_malloc(n, 1); }
static void *uncollectable_generic(size_t n) { return GC_generic_malloc_uncollectable(n, 2); }
static void *from_nothing(size_t n) { return GC_realloc(NULL, n); }
static void *aligned(size_t n) { return GC_memalign(64, n); }
static GC_word descriptor;
static void *typed(size_t n) { return GC_malloc_explicitly_typed(n, descriptor); }
static void *typed_array(size_t n) { return GC_calloc_explicitly_typed(n / 8, 64, descriptor); }

static void check_sizes(void) {
    static const struct {
        const char *name;
        void *(*function)(size_t);
        int only_null; /* 8.2.2 works on with what it is given, so it must be NULL */
    } functions[] = {{"GC_malloc", GC_malloc, 0},
                     {"GC_malloc_atomic", GC_malloc_atomic, 0},
                     {"GC_malloc_uncollectable", GC_malloc_uncollectable, 1},
                     {"GC_malloc_atomic_uncollectable", GC_malloc_atomic_uncollectable, 1},
                     {"GC_malloc_ignore_off_page", GC_malloc_ignore_off_page, 0},
                     {"GC_malloc_atomic_ignore_off_page", GC_malloc_atomic_ignore_off_page, 0},
                     {"GC_malloc_kind", kind_0, 0},
                     {"GC_generic_malloc", generic, 0},
                     {"GC_generic_malloc_uncollectable", uncollectable_generic, 1},
                     {"GC_realloc", from_nothing, 0},
                     {"GC_memalign", aligned, 1},
                     {"GC_malloc_explicitly_typed", typed, 1},
                     {"GC_calloc_explicitly_typed", typed_array, 1}};
    static const size_t sizes[] = {SIZE_MAX,         SIZE_MAX - 1, SIZE_MAX - 15,       SIZE_MAX - 16, SIZE_MAX - 4096,
                                   SIZE_MAX / 2 + 1, SIZE_MAX / 2, SIZE_MAX / 2 - 4096, SIZE_MAX / 4,  (size_t)1 << 48};
    for (unsigned f = 0; f < sizeof functions / sizeof functions[0]; ++f) {
        for (unsigned s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
            int before = calls;
            give_null = functions[f].only_null;
            void *result = functions[f].function(sizes[s]);
            CHECK(calls == before + 1, "%s(%#zx): the out-of-memory function was called %d times", functions[f].name,
                  sizes[s], calls - before);
            CHECK(result == (give_null ? NULL : answer), "%s(%#zx) gave %p", functions[f].name, sizes[s], result);
        }
    }
}

/* Until there is no more; dropped, there is memory again. No list, which one false pointer could keep whole. */
static void *volatile kept[1 << 20];
NOINLINE static size_t fill_up(size_t each) {
    size_t count = 0;
    while (count < sizeof kept / sizeof kept[0] && (kept[count] = GC_malloc(each)) != NULL) ++count;
    for (size_t i = 0; i < count; ++i) kept[i] = NULL;
    return count;
}

int main(void) {
    GC_set_warn_proc(GC_ignore_warn_proc);
    GC_INIT();
    GC_word bitmap = 1;
    descriptor = GC_make_descriptor(&bitmap, 8);
    CHECK(GC_get_oom_fn() != NULL, "no out-of-memory function by default");
    CHECK(GC_malloc(SIZE_MAX / 2) == NULL, "the default does not return NULL");
    GC_set_oom_fn(out_of_memory);
    CHECK(GC_get_oom_fn() == out_of_memory, "GC_get_oom_fn");
    CHECK(GC_oom_fn == out_of_memory, "the variable is another one than the function's");
    check_sizes();
    GC_malloc(SIZE_MAX / 2 - 4096);
    CHECK(asked >= SIZE_MAX / 2 - 4096, "the out-of-memory function was asked for %zu", asked);

    GC_set_oom_fn(out_of_memory_at_limit);
    GC_set_max_heap_size(64u << 20);
    static const size_t sizes[] = {100, 3000, 50000, 1000000};
    for (unsigned s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
        for (int round = 0; round < 3; ++round) {
            int before = calls;
            size_t bytes = fill_up(sizes[s]) * sizes[s];
            CHECK(calls > before, "NULL without asking the out-of-memory function");
            CHECK(bytes <= (64u << 20), "%zu bytes in a heap of 64 MiB", bytes);
            CHECK(bytes >= (8u << 20), "only %zu bytes by %zu in a heap of 64 MiB, round %d", bytes, sizes[s], round);
            scrub();
            GC_gcollect();
        }
    }
    return 0;
}
