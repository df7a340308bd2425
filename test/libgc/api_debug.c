/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: the debug variants: headers, copies, strings, finalizers, and objects that hold each other.
 * Invariant: the client sees its own pointer everywhere.
 * Must not know: what is in the debug header.
 */
#define GC_DEBUG
#include <gc.h>
#include <gc/gc_mark.h>

#include "watched.h"

static void **object;
static void put_in_object(int i, void *p) { object[i] = p; }
static void clear_in_object(int i) { object[i] = NULL; }

static int finalized, wrong;
static void finalize(void *p, void *cd) {
    ++finalized;
    if (((GC_word *)p)[0] != pattern((uint64_t)(uintptr_t)cd, 0)) ++wrong;
}

NOINLINE static void make_finalizable(void) {
    for (int i = 0; i < kPlaces; ++i) {
        GC_word *p = GC_MALLOC(40);
        p[0] = pattern((uint64_t)i, 0);
        switch (i % 4) {
            case 0:
                GC_REGISTER_FINALIZER(p, finalize, (void *)(intptr_t)i, NULL, NULL);
                break;
            case 1:
                GC_REGISTER_FINALIZER_IGNORE_SELF(p, finalize, (void *)(intptr_t)i, NULL, NULL);
                break;
            case 2:
                GC_REGISTER_FINALIZER_NO_ORDER(p, finalize, (void *)(intptr_t)i, NULL, NULL);
                break;
            default:
                GC_REGISTER_FINALIZER_UNREACHABLE(p, finalize, (void *)(intptr_t)i, NULL, NULL);
                break;
        }
    }
}

static void check_header(char *p, size_t n, const char *what) {
    CHECK(p != NULL, "%s gave NULL", what);
    CHECK((uintptr_t)p % 16 == 0, "%s is not aligned", what);
    CHECK(GC_base(p) == p - 32, "GC_base of %s is %td before it", what, p - (char *)GC_base(p));
    CHECK(GC_size(GC_base(p)) >= n + 32, "%s is too short", what);
}

int main(void) {
    GC_INIT();
    CHECK(GC_get_debug_header_size() == 32, "the debug header has %zu bytes", GC_get_debug_header_size());
    CHECK(GC_debug_header_size == 32, "the variable says %zu bytes", GC_debug_header_size);
    check_header(GC_MALLOC(100), 100, "GC_debug_malloc");
    check_header(GC_MALLOC_ATOMIC(100), 100, "GC_debug_malloc_atomic");
    check_header(GC_MALLOC_UNCOLLECTABLE(100), 100, "GC_debug_malloc_uncollectable");
    check_header(GC_MALLOC_ATOMIC_UNCOLLECTABLE(100), 100, "GC_debug_malloc_atomic_uncollectable");
    check_header(GC_MALLOC_IGNORE_OFF_PAGE(100), 100, "GC_debug_malloc_ignore_off_page");
    check_header(GC_MALLOC_ATOMIC_IGNORE_OFF_PAGE(100), 100, "GC_debug_malloc_atomic_ignore_off_page");
    check_header(GC_debug_malloc_stubborn(100, __FILE__, __LINE__), 100, "GC_debug_malloc_stubborn");
    check_header(GC_debug_malloc_replacement(100), 100, "GC_debug_malloc_replacement");
    for (int kind = 0; kind < 4; ++kind)
        check_header(GC_debug_generic_or_special_malloc(100, kind, __FILE__, __LINE__), 100,
                     "GC_debug_generic_or_special_malloc");
    check_header(GC_STRDUP("granary"), 8, "GC_debug_strdup");
    CHECK(strcmp(GC_STRDUP("granary"), "granary") == 0, "GC_debug_strdup");
    CHECK(strcmp(GC_STRNDUP("granary", 3), "gra") == 0, "GC_debug_strndup");

    char *text = GC_MALLOC(10);
    strcpy(text, "granary");
    for (size_t size = 10; size < 20000; size += size / 2) {
        text = GC_REALLOC(text, size);
        check_header(text, size, "GC_debug_realloc");
        CHECK(strcmp(text, "granary") == 0, "GC_debug_realloc to %zu lost the contents", size);
    }
    text = GC_debug_realloc_replacement(text, 8);
    CHECK(strcmp(text, "granary") == 0, "GC_debug_realloc_replacement lost the contents");
    GC_FREE(text);
    GC_FREE(NULL);

    object = GC_MALLOC(kPlaces * sizeof(void *));
    void *inner = GC_MALLOC(16);
    GC_PTR_STORE_AND_DIRTY(&object[0], inner);
    CHECK(object[0] == inner, "GC_debug_ptr_store_and_dirty did not store");
    check_place(&(struct place){.what = "in a debug object", .put = put_in_object, .clear = clear_in_object});

    make_finalizable();
    collect();
    collect();
    CHECK(finalized >= kPlaces / 2, "only %d of %d debug objects were finalized", finalized, (int)kPlaces);
    CHECK(wrong == 0, "%d finalizers got a wrong pointer", wrong);
    return 0;
}
