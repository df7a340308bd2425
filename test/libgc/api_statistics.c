/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: figures: what only grows does, what is asked together fits, structures of other sizes are filled.
 * Invariant: totals never fall, and grow by what was allocated.
 * Must not know: how the heap is divided.
 */
#define GC_THREADS /* declares GC_get_prof_stats_unsafe */
#include <gc.h>
#include <gc/gc_inline.h>
#include <gc/gc_mark.h>

#include "check.h"

static void *volatile held[64];

static void check_growing(void) {
    size_t total = GC_get_total_bytes(), obtained = GC_get_obtained_from_os_bytes();
    GC_word number = GC_get_gc_no();
    uint64_t random = 1;
    for (int i = 0; i < 300; ++i) {
        size_t size = 1 + next_random(&random) % 60000;
        held[i % 64] = GC_malloc(size);
        if (i % 30 == 0) GC_gcollect();
        size_t total_now = GC_get_total_bytes(), obtained_now = GC_get_obtained_from_os_bytes();
        GC_word number_now = GC_get_gc_no();
        if (size > 4096)
            CHECK(total_now >= total + size, "total was %zu, %zu more were allocated, it is %zu", total, size,
                  total_now);
        CHECK(total_now >= total, "total fell from %zu to %zu", total, total_now);
        CHECK(obtained_now >= obtained, "bytes from the system fell from %zu to %zu", obtained, obtained_now);
        CHECK(number_now >= number, "the number of collections fell");
        CHECK(i % 30 != 0 || number_now > number, "a collection was not counted");
        CHECK(GC_gc_no == number_now, "the variable and the function count differently");
        CHECK(GC_get_heap_size() >= GC_get_free_bytes(), "more free bytes than heap");
        CHECK(obtained_now >= GC_get_heap_size(), "a heap larger than what the system gave");
        total = total_now;
        obtained = obtained_now;
        number = number_now;
    }
}

static void check_usage(void) {
    GC_word heap, free, unmapped, since, total;
    GC_get_heap_usage_safe(&heap, &free, &unmapped, &since, &total);
    CHECK(heap == GC_get_heap_size(), "heap %lu, but %zu", (unsigned long)heap, GC_get_heap_size());
    CHECK(free == GC_get_free_bytes(), "free %lu, but %zu", (unsigned long)free, GC_get_free_bytes());
    CHECK(unmapped == GC_get_unmapped_bytes(), "unmapped %lu, but %zu", (unsigned long)unmapped,
          GC_get_unmapped_bytes());
    CHECK(since == GC_get_bytes_since_gc(), "since %lu, but %zu", (unsigned long)since, GC_get_bytes_since_gc());
    CHECK(total == GC_get_total_bytes(), "total %lu, but %zu", (unsigned long)total, GC_get_total_bytes());
    GC_get_heap_usage_safe(NULL, NULL, NULL, NULL, NULL);
    heap = 0;
    GC_get_heap_usage_safe(&heap, NULL, NULL, NULL, NULL);
    CHECK(heap != 0, "one figure alone was not filled");
}

static void check_structure(void) {
    struct GC_prof_stats_s stats;
    struct {
        struct GC_prof_stats_s known;
        GC_word later[4];
    } larger;
    memset(&stats, 0x11, sizeof stats);
    CHECK(sizeof stats == 96, "the structure has %zu bytes", sizeof stats);
    CHECK(GC_get_prof_stats(&stats, sizeof stats) == sizeof stats, "the structure was not filled");
    CHECK(stats.heapsize_full >= GC_get_heap_size(), "heapsize_full");
    CHECK(stats.gc_no == GC_get_gc_no(), "gc_no");
    CHECK(stats.bytes_allocd_since_gc == GC_get_bytes_since_gc(), "bytes_allocd_since_gc");
    CHECK(stats.obtained_from_os_bytes == GC_get_obtained_from_os_bytes(), "obtained_from_os_bytes");
    CHECK(stats.unmapped_bytes == GC_get_unmapped_bytes(), "unmapped_bytes");
    CHECK(stats.non_gc_bytes == GC_get_non_gc_bytes(), "non_gc_bytes");
    CHECK(stats.expl_freed_bytes_since_gc == GC_get_expl_freed_bytes_since_gc(), "expl_freed_bytes_since_gc");
    CHECK(GC_get_prof_stats_unsafe(&stats, sizeof stats) == sizeof stats, "GC_get_prof_stats_unsafe");

    memset(&larger, 0x11, sizeof larger);
    CHECK(GC_get_prof_stats(&larger.known, sizeof larger) == sizeof stats, "a larger structure was filled otherwise");
    for (int i = 0; i < 4; ++i) CHECK(larger.later[i] == ~(GC_word)0, "what is not known is not all ones");
    memset(&larger, 0x11, sizeof larger);
    size_t few = 3 * sizeof(GC_word);
    CHECK(GC_get_prof_stats(&larger.known, few) == few, "a smaller structure was filled otherwise");
    CHECK(larger.known.bytes_allocd_since_gc == 0x1111111111111111u, "written beyond a smaller structure");
    CHECK(larger.known.heapsize_full == stats.heapsize_full, "the first figure of a smaller structure");
}

static void check_rest(void) {
    CHECK(GC_get_version() == 0x080202, "version %#x", GC_get_version());
    size_t freed = GC_get_expl_freed_bytes_since_gc();
    GC_free(GC_malloc(30000));
    CHECK(GC_get_expl_freed_bytes_since_gc() >= freed + 30000, "GC_free of 30000 bytes counted as %zu",
          GC_get_expl_freed_bytes_since_gc() - freed);
    GC_word kept = GC_get_non_gc_bytes();
    void *uncollectable[64]; /* 8.2.2 leaves some out, and all large ones */
    for (int i = 0; i < 64; ++i) uncollectable[i] = GC_malloc_uncollectable(1000);
    GC_signed_word counted = (GC_signed_word)(GC_get_non_gc_bytes() - kept);
    CHECK(counted >= 32000, "uncollectable objects of 64000 bytes count %ld", (long)counted);
    for (int i = 0; i < 64; ++i) GC_free(uncollectable[i]);
    counted = (GC_signed_word)(GC_get_non_gc_bytes() - kept);
    CHECK(counted < 32000, "freed uncollectable objects count %ld", (long)counted);
    size_t in_use = GC_get_memory_use();
    held[0] = GC_malloc(1000000);
    CHECK(GC_get_memory_use() >= in_use + 1000000, "1000000 bytes more in use, but %zu became %zu", in_use,
          GC_get_memory_use());
    size_t heap = GC_get_heap_size();
    CHECK(GC_expand_hp(8 << 20) == 1, "GC_expand_hp failed");
    CHECK(GC_get_heap_size() >= heap + (8 << 20), "GC_expand_hp by 8 MiB: %zu became %zu", heap, GC_get_heap_size());
    CHECK(GC_get_size_map_at(-1) == SIZE_MAX && GC_get_size_map_at(100000) == SIZE_MAX,
          "GC_get_size_map_at beyond its range");
    size_t slot = GC_get_size_map_at(16);
    GC_malloc(15);
    CHECK(slot == 0 || slot >= 16, "GC_get_size_map_at(16) is %zu", slot);
    GC_start_performance_measurement();
    unsigned long before = GC_get_full_gc_total_time();
    GC_gcollect();
    CHECK(GC_get_full_gc_total_time() >= before, "the time in collections fell");
}

int main(void) {
    GC_INIT();
    GC_gcollect();
    check_growing();
    check_usage();
    check_structure();
    check_rest();
    return 0;
}
