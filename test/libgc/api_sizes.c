/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: objects of 1 KiB to 4 MiB, scanned and pointer-free: what the heap and the process hold for them, what counts as
 *    theirs, that their memory is zero when it was used before, and that a pointer one past the end keeps them.
 * Invariant: each size runs in a process of its own, so that no heap has grown for another one.
 * Must not know: which pages an object lies in.
 */
#include <gc.h>
#include <stdio.h>

#include "watched.h"

enum { kWhole = 24 << 20, kMost = 24 << 10, kSlack = 1 << 20, kPage = 4096 };

static void *volatile held[kMost];
static size_t size;
static void *(*allocate)(size_t bytes);

static size_t count(void) { return kWhole / size; }

static size_t resident_bytes(void) {
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%*u %zu", &pages) == 1, "/proc/self/statm cannot be read");
    fclose(file);
    return pages * kPage;
}

static size_t used_bytes(void) { return GC_get_heap_size() - GC_get_free_bytes(); }

/* Most is the worst of: a size class and what a superblock has left over; whole pages of 4 KiB for more than 32 KiB. */
static size_t most_bytes(size_t asked) { return asked / 100 * (size < 32768 ? 119 : 115) + kSlack; }

static void expect_few(const char *what, size_t bytes, size_t asked) {
    CHECK(bytes <= most_bytes(asked), "%zu objects of %zu bytes: %zu %s for %zu", count(), size, bytes, what, asked);
}

NOINLINE static void make_all(int is_zeroed) {
    for (size_t i = 0; i < count(); ++i) {
        unsigned char *object = allocate(size);
        CHECK(object != NULL, "no memory for %zu bytes", size);
        CHECK(GC_size(object) >= size && GC_size(object) <= size + size / 8 + 16, "%zu bytes: GC_size is %zu", size,
              GC_size(object));
        for (size_t at = 0; is_zeroed && at < size; ++at)
            CHECK(object[at] == 0, "%zu bytes: the one at %zu is not zero", size, at);
        memset(object, 0xa5, size);
        held[i] = object;
    }
}

/* Afterwards what is free was used to its last byte. */
NOINLINE static void use_memory(size_t bytes) {
    for (size_t i = 0; i < kWhole / bytes; ++i) memset(held[i] = GC_malloc(bytes), 0xee, bytes);
    for (size_t i = 0; i < kWhole / bytes; ++i) memset(held[i + kWhole / bytes] = GC_malloc_atomic(bytes), 0xee, bytes);
    wipe(held, kMost);
    GC_gcollect();
    GC_gcollect();
}

static void check_size(void) {
    GC_INIT();
    held[0] = allocate(16);
    size_t asked = count() * size, resident = resident_bytes(), used = used_bytes(), total = GC_get_total_bytes();
    make_all(allocate == GC_malloc);
    expect_few("bytes of heap", used_bytes() - used, asked);
    expect_few("bytes allocated", GC_get_total_bytes() - total, asked);
    expect_few("bytes resident", resident_bytes() - resident, asked);
    GC_gcollect();
    for (size_t i = 0; i < count(); ++i) CHECK(GC_base(held[i]) == held[i], "%zu bytes: an object was lost", size);
    expect_few("bytes of heap after a collection", used_bytes() - used, asked);
}

static void check_size_again(void) {
    GC_INIT();
    use_memory(4 << 20);
    size_t asked = count() * size, used = used_bytes();
    make_all(allocate == GC_malloc);
    expect_few("bytes of heap that was used before", used_bytes() - used, asked);
}

/* Only the pointers one past the end are left. */
static void check_end(void) {
    enum { kObjects = 16 };
    static struct watched watched[kObjects];
    GC_INIT();
    for (int i = 0; i < kObjects; ++i) held[i] = (char *)watch_new(&watched[i], size, (uint64_t)i) + size;
    collect();
    expect_kept(watched, kObjects, "a pointer one past the end");
    wipe(held, kObjects);
    collect();
    expect_half_dead(watched, kObjects, "nothing");
}

int main(void) {
    static const size_t sizes[] = {1024,   1025,   2000,   4096,    5000,    8192,    12000,   16384,
                                   20480,  24576,  32767,  32768,   34000,   40000,   49152,   65535,
                                   65536,  65537,  81920,  98304,   131072,  150000,  196608,  262144,
                                   300000, 524288, 786432, 1000000, 1048576, 2097152, 3000000, 4194304};
    size_t least = skip_on_bdwgc("objects of less than 32 KiB") ? 32768 : 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        size = sizes[i];
        if (size < least) continue;
        allocate = GC_malloc;
        run_apart("scanned objects", check_size);
        run_apart("scanned objects in used memory", check_size_again);
        run_apart("pointers one past the end", check_end);
        allocate = GC_malloc_atomic;
        run_apart("pointer-free objects", check_size);
        run_apart("pointer-free objects in used memory", check_size_again);
    }
    return 0;
}
