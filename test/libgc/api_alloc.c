/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: the functions that allocate: alignment, zeroed memory also where something was before, sizes, kinds,
 *    strings.
 * Invariant: each object is whole, apart from all others, and of the kind that was asked for.
 * Must not know: size classes.
 */
#include <gc.h>
#include <gc/gc_inline.h>
#include <gc/gc_mark.h>

#include "watched.h"

static int is_zero(const void *object, size_t size) {
    const unsigned char *bytes = object;
    for (size_t i = 0; i < size; ++i)
        if (bytes[i] != 0) return 0;
    return 1;
}

typedef void *allocate(size_t);
static void *kind_0(size_t n) { return GC_malloc_kind(n, GC_I_PTRFREE); }
static void *kind_1(size_t n) { return GC_malloc_kind(n, GC_I_NORMAL); }
static void *kind_global_0(size_t n) { return GC_malloc_kind_global(n, GC_I_PTRFREE); }
static void *kind_global_1(size_t n) { return GC_malloc_kind_global(n, GC_I_NORMAL); }
static void *generic_0(size_t n) { return GC_generic_malloc(n, GC_I_PTRFREE); }
static void *generic_1(size_t n) { return GC_generic_malloc(n, GC_I_NORMAL); }
static void *generic_off_page(size_t n) { return GC_generic_malloc_ignore_off_page(n, GC_I_NORMAL); }
static void *generic_2(size_t n) { return GC_generic_malloc_uncollectable(n, 2); }
static void *generic_3(size_t n) { return GC_generic_malloc_uncollectable(n, 3); }
static void *special_0(size_t n) { return GC_generic_or_special_malloc(n, 0); }
static void *special_1(size_t n) { return GC_generic_or_special_malloc(n, 1); }
static void *special_2(size_t n) { return GC_generic_or_special_malloc(n, 2); }
static void *special_3(size_t n) { return GC_generic_or_special_malloc(n, 3); }
static void *aligned_64(size_t n) { return GC_memalign(64, n); }

static const struct {
    const char *name;
    allocate *function;
    int kind, frees; /* frees: 8.2.2 cannot free what GC_memalign gives */
} functions[] = {
    {"GC_malloc", GC_malloc, 1, 1},
    {"GC_malloc_atomic", GC_malloc_atomic, 0, 1},
    {"GC_malloc_uncollectable", GC_malloc_uncollectable, 2, 1},
    {"GC_malloc_atomic_uncollectable", GC_malloc_atomic_uncollectable, 3, 1},
    {"GC_malloc_ignore_off_page", GC_malloc_ignore_off_page, 1, 1},
    {"GC_malloc_atomic_ignore_off_page", GC_malloc_atomic_ignore_off_page, 0, 1},
    {"GC_malloc_stubborn", GC_malloc_stubborn, 1, 1},
    {"GC_malloc_kind(0)", kind_0, 0, 1},
    {"GC_malloc_kind(1)", kind_1, 1, 1},
    {"GC_malloc_kind_global(0)", kind_global_0, 0, 1},
    {"GC_malloc_kind_global(1)", kind_global_1, 1, 1},
    {"GC_generic_malloc(0)", generic_0, 0, 1},
    {"GC_generic_malloc(1)", generic_1, 1, 1},
    {"GC_generic_malloc_ignore_off_page(1)", generic_off_page, 1, 1},
    {"GC_generic_malloc_uncollectable(2)", generic_2, 2, 1},
    {"GC_generic_malloc_uncollectable(3)", generic_3, 3, 1},
    {"GC_generic_or_special_malloc(0)", special_0, 0, 1},
    {"GC_generic_or_special_malloc(1)", special_1, 1, 1},
    {"GC_generic_or_special_malloc(2)", special_2, 2, 1},
    {"GC_generic_or_special_malloc(3)", special_3, 3, 1},
    {"GC_memalign(64)", aligned_64, 1, 0},
};
enum { kFunctions = sizeof functions / sizeof functions[0] };

static const size_t sizes[] = {0,    1,    7,     8,     15,    16,    17,    31,     32,     48,      100,    255,
                               256,  383,  384,   385,   1000,  2047,  2048,  2049,   4000,   4095,    4096,   4097,
                               8191, 8192, 10000, 32768, 65535, 65536, 65537, 100000, 262144, 1048576, 5000000};
enum { kSizes = sizeof sizes / sizeof sizes[0] };

static void check_function(int f) {
    const char *name = functions[f].name;
    int scanned = functions[f].kind == 1 || functions[f].kind == 2;
    for (int s = 0; s < kSizes; ++s) {
        size_t n = sizes[s];
        enum { kEach = 6 };
        unsigned char *objects[kEach];
        /* Twice: the second time what was there before is known to be no zeros. */
        for (int round = 0; round < 2; ++round) {
            for (int i = 0; i < kEach; ++i) {
                objects[i] = functions[f].function(n);
                CHECK(objects[i] != NULL, "%s: %zu bytes gave NULL", name, n);
                CHECK((uintptr_t)objects[i] % 16 == 0, "%s: %zu bytes at %p, not aligned to 16", name, n,
                      (void *)objects[i]);
                if (scanned) CHECK(is_zero(objects[i], n), "%s: %zu bytes are not zeroed", name, n);
                memset(objects[i], 0x40 + i, n);
            }
            for (int i = 0; i < kEach; ++i) {
                for (size_t at = 0; at < n; ++at)
                    CHECK(objects[i][at] == 0x40 + i, "%s: objects of %zu bytes overlap", name, n);
                for (int j = 0; j < i; ++j) CHECK(objects[i] != objects[j], "%s: one object twice", name);
                if (functions[f].frees) {
                    size_t size;
                    int kind = GC_get_kind_and_size(objects[i], &size);
                    CHECK(kind == functions[f].kind, "%s: kind is %d", name, kind);
                    CHECK(size >= n && GC_size(objects[i]) == size, "%s: %zu bytes have size %zu, GC_size %zu", name, n,
                          size, GC_size(objects[i]));
                    memset(objects[i], 0xff, size);
                    GC_free(objects[i]);
                }
            }
        }
    }
}

static void check_zeroed_after_collection(void) {
    for (int s = 0; s < kSizes; ++s) {
        size_t n = sizes[s];
        int many = n < 20000 ? 200 : 5;
        for (int i = 0; i < many; ++i) memset(GC_malloc(n), 0xff, n);
        scrub();
        GC_gcollect();
        for (int i = 0; i < many; ++i) {
            char *object = GC_malloc(n);
            CHECK(is_zero(object, n), "GC_malloc(%zu) after a collection is not zeroed", n);
            memset(object, 0xff, n);
        }
    }
}

static void check_strings(void) {
    char *copy = GC_strdup("granary");
    CHECK(copy != NULL && strcmp(copy, "granary") == 0, "GC_strdup");
    CHECK(GC_get_kind_and_size(copy, NULL) == 0, "GC_strdup's copy is not pointer-free");
    CHECK(GC_strdup(NULL) == NULL, "GC_strdup(NULL) gave something");
    copy = GC_strdup("");
    CHECK(copy != NULL && copy[0] == 0, "GC_strdup of an empty string");
    CHECK(strcmp(GC_strndup("granary", 4), "gran") == 0, "GC_strndup of four bytes");
    CHECK(strcmp(GC_strndup("granary", 7), "granary") == 0, "GC_strndup of all bytes");
    CHECK(strcmp(GC_strndup("granary", 100), "granary") == 0, "GC_strndup of more bytes than there are");
    CHECK(strcmp(GC_strndup("granary", 0), "") == 0, "GC_strndup of no bytes");
}

static void check_aligned(void) {
    for (size_t alignment = 8; alignment <= 4096; alignment *= 2) {
        for (int s = 0; s < kSizes; ++s) {
            size_t n = sizes[s];
            char *object = GC_memalign(alignment, n);
            CHECK(object != NULL && (uintptr_t)object % alignment == 0, "GC_memalign(%zu, %zu) gave %p", alignment, n,
                  (void *)object);
            CHECK(is_zero(object, n), "GC_memalign(%zu, %zu) is not zeroed", alignment, n);
            memset(object, 0xee, n);
            void *other = NULL;
            CHECK(GC_posix_memalign(&other, alignment, n) == 0, "GC_posix_memalign(%zu, %zu) failed", alignment, n);
            CHECK(other != NULL && (uintptr_t)other % alignment == 0, "GC_posix_memalign(%zu, %zu) gave %p", alignment,
                  n, other);
            memset(other, 0xee, n);
        }
    }
    static const size_t wrong[] = {1, 2, 3, 4, 12, 24, 100};
    void *kept = &kept;
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; ++i)
        CHECK(GC_posix_memalign(&kept, wrong[i], 10) == 22 && kept == &kept, "GC_posix_memalign(%zu): no EINVAL",
              wrong[i]);
}

static struct watched first_page[4];
static void *volatile first_page_pointers[4];

/* Kept by a pointer into the first 256 bytes. */
NOINLINE static void fill_off_page(void) {
    for (int i = 0; i < 4; ++i) {
        size_t size = 100000u << i;
        char *object = i % 2 ? GC_malloc_ignore_off_page(size) : GC_malloc_atomic_ignore_off_page(size);
        watch(&first_page[i], object, size, (uint64_t)i);
        first_page_pointers[i] = object + 200;
    }
}

int main(void) {
    GC_INIT();
    for (int f = 0; f < kFunctions; ++f) check_function(f);
    check_zeroed_after_collection();
    check_strings();
    check_aligned();
    fill_off_page();
    collect();
    expect_kept(first_page, 4, "objects kept by their first bytes");
    GC_free(NULL);
    return 0;
}
