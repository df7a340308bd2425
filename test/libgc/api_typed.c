/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: typed allocation: the words that the descriptor names keep, the others do not; single objects and arrays.
 * Invariant: descriptors of one bit to several hundred.
 * Must not know: how a descriptor is encoded.
 */
#include <gc.h>
#include <gc/gc_typed.h>

#include "watched.h"

enum { kWords = 200 };
static struct watched watched[kWords * 4];
static GC_word *volatile object;

/* Every word refers to an object of its own. */
NOINLINE static void fill_all(size_t words) {
    for (size_t i = 0; i < words; ++i) object[i] = (GC_word)watch_new(&watched[i], 32, i);
    scrub();
}

static int named(uint64_t seed, size_t word) { return (mixed(seed + word) & 3) == 0; }

/* words: of one element; named are those by the seed, but the first `bits` only. */
static void check(size_t words, size_t bits, uint64_t seed, int way) {
    GC_word bitmap[GC_BITMAP_SIZE(GC_word[kWords])] = {0};
    char what[100];
    static const char *const ways[] = {"GC_malloc_explicitly_typed", "GC_malloc_explicitly_typed_ignore_off_page",
                                       "GC_calloc_explicitly_typed(1)", "GC_calloc_explicitly_typed(4)"};
    snprintf(what, sizeof what, "%s, %zu words, %zu bits", ways[way], words, bits);
    for (size_t i = 0; i < bits; ++i)
        if (named(seed, i)) GC_set_bit(bitmap, i);
    GC_word descriptor = GC_make_descriptor(bitmap, bits);
    size_t elements = way == 3 ? 4 : 1, size = words * sizeof(GC_word);
    object = way == 0   ? GC_malloc_explicitly_typed(size, descriptor)
             : way == 1 ? GC_malloc_explicitly_typed_ignore_off_page(size, descriptor)
                        : GC_calloc_explicitly_typed(elements, size, descriptor);
    CHECK(object != NULL, "%s gave NULL", what);
    for (size_t i = 0; i < elements * words; ++i) CHECK(object[i] == 0, "%s: word %zu is not zero", what, i);
    fill_all(elements * words);
    GC_word *copy = malloc(elements * size); /* complemented */
    for (size_t i = 0; i < elements * words; ++i) copy[i] = ~object[i];
    collect();
    size_t dead = 0, others = 0;
    for (size_t i = 0; i < elements * words; ++i) {
        CHECK(object[i] == ~copy[i], "%s: word %zu changed", what, i);
        if (i % words < bits && named(seed, i % words)) {
            CHECK(is_intact(&watched[i]), "%s: the object of word %zu was lost", what, i);
        } else {
            ++others;
            dead += !is_alive(&watched[i]);
        }
    }
    CHECK(2 * dead >= others, "%s: only %zu of %zu objects behind other words died", what, dead, others);
    forget(watched, (int)(elements * words));
    object = NULL;
    free(copy);
}

int main(void) {
    GC_INIT();
    static const size_t sizes[] = {4, 10, 30, 61, 62, 63, 64, 65, 100, 128, kWords};
    for (unsigned s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
        for (int way = 0; way < 4; ++way) {
            check(sizes[s], sizes[s], s, way);
            check(sizes[s], sizes[s] / 2, s + 100, way); /* the bitmap ends before the object does */
        }
    }
    /* No pointers at all; pointers in the first words only. */
    GC_word none[4] = {0}, all[4] = {~(GC_word)0, ~(GC_word)0, ~(GC_word)0, ~(GC_word)0};
    object = GC_malloc_explicitly_typed(50 * sizeof(GC_word), GC_make_descriptor(none, 50));
    fill_all(50);
    collect();
    expect_half_dead(watched, 50, "an object whose descriptor names no word");
    forget(watched, 50);
    object = GC_malloc_explicitly_typed(150 * sizeof(GC_word), GC_make_descriptor(all, 100));
    fill_all(150);
    collect();
    expect_kept(watched, 100, "an object whose descriptor names the first 100 words");
    expect_half_dead(watched + 100, 50, "words that a descriptor of 100 bits does not name");
    forget(watched, 150);

    GC_word bitmap[1] = {0};
    GC_set_bit(bitmap, 3);
    CHECK(GC_get_bit(bitmap, 3) && !GC_get_bit(bitmap, 2), "GC_set_bit");
    return 0;
}
