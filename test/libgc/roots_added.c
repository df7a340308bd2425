/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: ranges in mapped memory that are added to the roots, taken back, excluded and cleared.
 * Invariant: the place named is the only one that keeps the objects; cleared, it keeps them no more.
 * Must not know: how many ranges there may be.
 */
#include <gc.h>
#include <sys/mman.h>

#include "watched.h"

enum { kBytes = 65536 };
static void *volatile *memory; /* mapped, so no root by itself */
static struct watched watched[kPlaces];
enum { kExcluded = 512 };
static void *volatile around[3 * kExcluded]; /* of which the middle is excluded */
static void *volatile *const excluded = &around[kExcluded];

static void put_first(int i, void *object) { memory[i] = object; }
static void clear_first(int i) { memory[i] = NULL; }
static void put_last(int i, void *object) { memory[kBytes / sizeof(void *) - 1 - (size_t)i] = object; }
static void clear_last(int i) { put_last(i, NULL); }

static void put_before(int i, void *object) { around[i] = object; }
static void clear_before(int i) { around[i] = NULL; }
static void put_behind(int i, void *object) { around[2 * kExcluded + i] = object; }
static void clear_behind(int i) { around[2 * kExcluded + i] = NULL; }

static void expect_dead(void *volatile *in, const char *what) {
    fill(in, watched, kPlaces);
    collect();
    expect_half_dead(watched, kPlaces, what);
    forget(watched, kPlaces);
    wipe(in, kPlaces);
}

int main(void) {
    GC_INIT();
    memory = mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED, "no memory");
    char *end = (char *)memory + kBytes;

    expect_dead(memory, "memory that was not added");
    GC_add_roots((void *)memory, end);
    check_place(&(struct place){.what = "first words of an added range", .put = put_first, .clear = clear_first});
    check_place(&(struct place){.what = "last words of an added range", .put = put_last, .clear = clear_last});
    GC_add_roots((void *)memory, end); /* again: no change */
    GC_add_roots((char *)memory + kBytes / 2, end);
    check_place(&(struct place){.what = "a range added twice", .put = put_last, .clear = clear_last});
    GC_remove_roots((void *)memory, end);
    expect_dead(memory, "a range that was removed");

    /* A piece of another range stays when one beside it goes. */
    char *middle = (char *)memory + kBytes / 2;
    GC_add_roots((void *)memory, middle - 4096);
    GC_add_roots(middle, end);
    GC_remove_roots(middle, end);
    check_place(&(struct place){.what = "the range beside a removed one", .put = put_first, .clear = clear_first});
    expect_dead((void *volatile *)middle, "the removed one of two ranges");
    GC_remove_roots((void *)memory, end);

    GC_exclude_static_roots((void *)excluded, (void *)(excluded + kExcluded));
    expect_dead(excluded + 100, "excluded static data");
    check_place(&(struct place){.what = "before excluded data", .put = put_before, .clear = clear_before});
    check_place(&(struct place){.what = "behind excluded data", .put = put_behind, .clear = clear_behind});

    GC_add_roots((void *)memory, end);
    GC_clear_roots();
    expect_dead(memory, "a range after GC_clear_roots");
    CHECK(munmap((void *)memory, kBytes) == 0, "munmap failed");
    collect(); /* must not look there any more */
    return 0;
}
