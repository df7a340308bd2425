/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: objects and arrays with a type: the type's words keep what they refer to, no other word does.
 * Invariant: the argument 0 turns interior pointers off. Types have one bit to several hundred.
 * Must not know: how a type is encoded.
 */
#include <errno.h>
#include <gc.h>

#include "granary/gc.h"
#include "watched.h"

enum { kWords = 200, kElements = 3 };
static struct watched watched[kWords * kElements * 2];
static GC_word *volatile object;
static int interior;

static int named(uint64_t seed, size_t word) { return (mixed(seed + word) & 3) == 0; }

static const gr_gc_type *type_of(size_t bits, uint64_t seed, int by_offsets) {
    uintptr_t bitmap[kWords / 64 + 1] = {0};
    size_t offsets[kWords], count = 0;
    for (size_t i = bits; i-- != 0;) {
        if (!named(seed, i)) continue;
        bitmap[i / 64] |= (uintptr_t)1 << i % 64;
        offsets[count++] = i * sizeof(void *);
    }
    const gr_gc_type *type = by_offsets ? gr_gc_type_of_offsets(offsets, count) : gr_gc_type_of(bitmap, bits);
    CHECK(type != NULL, "no type of %zu bits", bits);
    return type;
}

/* Every word refers to an object of its own. */
NOINLINE static void fill_all(size_t first, size_t words) {
    for (size_t i = first; i < first + words; ++i) {
        CHECK(object[i] == 0, "word %zu is not zero", i);
        object[i] = (GC_word)watch_new(&watched[i], 32, i);
    }
    scrub();
}

NOINLINE static void expect(size_t words, size_t elements, size_t bits, uint64_t seed, const char *what) {
    size_t dead = 0, others = 0;
    for (size_t i = 0; i < elements * words; ++i) {
        if (i % words < bits && named(seed, i % words)) {
            CHECK(is_intact(&watched[i]), "%s: the object of word %zu was lost", what, i);
        } else {
            ++others;
            dead += !is_alive(&watched[i]);
        }
    }
    CHECK(2 * dead >= others, "%s: only %zu of %zu objects behind other words died", what, dead, others);
    scrub();
}

static void check_object(size_t words, size_t bits, uint64_t seed, int by_offsets) {
    char what[100];
    snprintf(what, sizeof what, "an object of %zu words, %zu bits", words, bits);
    const gr_gc_type *type = type_of(bits, seed, by_offsets);
    object = gr_gc_malloc_typed(type, words * sizeof(GC_word));
    CHECK(object != NULL && gr_gc_size(object) >= words * sizeof(GC_word), "%s: no memory", what);
    memset(object, 0xff, gr_gc_size(object)); /* all that the program may write to */
    memset(object, 0, gr_gc_size(object));
    fill_all(0, words);
    collect();
    expect(words, 1, bits, seed, what);
    forget(watched, (int)words);
    object = NULL;
}

static void check_array(size_t words, size_t bits, uint64_t seed) {
    char what[100];
    snprintf(what, sizeof what, "an array of %zu words each, %zu bits", words, bits);
    object = gr_gc_calloc_typed(type_of(bits, seed, 0), kElements, words * sizeof(GC_word));
    CHECK(object != NULL, "%s: no memory", what);
    fill_all(0, kElements * words);
    collect();
    expect(words, kElements, bits, seed, what);
    /* Twice as many elements, then as few as before. */
    object = gr_gc_realloc(object, 2 * kElements * words * sizeof(GC_word));
    CHECK(object != NULL, "%s: no memory for more", what);
    fill_all(kElements * words, kElements * words);
    collect();
    expect(words, 2 * kElements, bits, seed, what);
    object = gr_gc_realloc(object, kElements * words * sizeof(GC_word));
    scrub();
    collect();
    expect(words, kElements, bits, seed, what);
    expect_half_dead(watched + kElements * words, (int)(kElements * words), "elements that were cut off");
    forget(watched, (int)(2 * kElements * words));
    object = NULL;
}

static void check_resized(void) {
    size_t offset = 2 * sizeof(void *);
    object = gr_gc_malloc_typed(gr_gc_type_of_offsets(&offset, 1), 4 * sizeof(GC_word));
    fill_all(0, 4);
    for (size_t words = 3; words < 3000; words *= 2) {
        object = gr_gc_realloc(object, words * sizeof(GC_word));
        CHECK(object != NULL, "no memory");
        for (size_t i = 4; i < words; ++i) CHECK(object[i] == 0, "word %zu of %zu is not zero", i, words);
        scrub();
        collect();
        CHECK(is_intact(&watched[2]), "the type was lost with %zu words", words);
    }
    expect_half_dead(watched, 2, "words that the type does not name");
    forget(watched, 4);
    object = NULL;
}

/* A word of a typed object as a word elsewhere: whether it counts within an object is the program's setting. */
NOINLINE static void put_inside(size_t displacement) {
    for (size_t i = 0; i < kWords; ++i) object[i] = (GC_word)watch_new(&watched[i], 64, i) + displacement;
    scrub();
}

static void check_interior(size_t displacement, const char *what) {
    uintptr_t all[kWords / 64 + 1];
    memset(all, 0xff, sizeof all);
    all[0] &= ~(uintptr_t)2; /* so that it is no type of whole words */
    object = gr_gc_malloc_typed(gr_gc_type_of(all, kWords), kWords * sizeof(GC_word));
    put_inside(displacement);
    collect();
    if (interior) {
        for (int i = 0; i < kWords; ++i) CHECK(i == 1 || is_alive(&watched[i]), "%s: object %d was lost", what, i);
    } else {
        expect_half_dead(watched, kWords, what);
    }
    forget(watched, kWords);
    object = NULL;
}

static void check_arguments(void) {
    size_t odd = 4;
    errno = 0;
    CHECK(gr_gc_type_of_offsets(&odd, 1) == NULL && errno == EINVAL, "an offset of 4");
    errno = 0;
    CHECK(gr_gc_type_of_offsets(NULL, 1) == NULL && errno == EINVAL, "no offsets");
    errno = 0;
    CHECK(gr_gc_type_of(NULL, 1) == NULL && errno == EINVAL, "no bitmap");
    const gr_gc_type *none = gr_gc_type_of(NULL, 0);
    CHECK(none != NULL && gr_gc_type_of_offsets(NULL, 0) != NULL, "a type without pointers");
    object = gr_gc_malloc_typed(none, 50 * sizeof(GC_word));
    fill_all(0, 50);
    collect();
    expect_half_dead(watched, 50, "a type without pointers");
    forget(watched, 50);
    object = NULL;
    errno = 0;
    CHECK(gr_gc_malloc_typed(none, SIZE_MAX / 2) == NULL && errno == ENOMEM, "an impossible size");
    errno = 0;
    CHECK(gr_gc_calloc_typed(none, SIZE_MAX / 2, 4) == NULL && errno == ENOMEM, "a size that overflows");
    errno = 0;
    object = gr_gc_malloc_typed(none, 16);
    CHECK(gr_gc_realloc(object, SIZE_MAX / 2) == NULL && errno == ENOMEM, "an impossible new size");
    void *freed = gr_gc_malloc_typed(none, 0);
    CHECK(freed != NULL, "an object of no bytes");
    gr_gc_free(freed);
}

int main(int argc, char **argv) {
    interior = (int)argument(argc, argv, 0, 1);
    GC_set_all_interior_pointers(interior);
    CHECK(gr_gc_init() == 0, "gr_gc_init");
    check_arguments();
    static const size_t sizes[] = {4, 10, 30, 61, 62, 63, 64, 65, 100, 128, kWords};
    for (unsigned s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
        for (int by_offsets = 0; by_offsets < 2; ++by_offsets) {
            check_object(sizes[s], sizes[s], s, by_offsets);
            check_object(sizes[s], sizes[s] / 2, s + 100, by_offsets);
        }
        check_array(sizes[s], sizes[s], s);
        check_array(sizes[s], sizes[s] / 2, s + 100);
    }
    check_resized();
    check_interior(8, "a pointer into an object");
    if (interior) check_interior(64, "a pointer one past an object's end");
    return 0;
}
