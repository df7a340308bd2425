// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: libgc's numbers and dumps.
// Invariant: numbers are asked for by holders of the lock, too; dumps go where clients print.
// Must not know: how anything is counted.
#include "libgc/statistics.hpp"

#include <cstring>

#include "libgc/allocation.hpp"
#include "libgc/functions.hpp"
#include "libgc/locked.hpp"
#include "libgc/messages.hpp"
#include "libgc/performance.hpp"
#include "malloc/statistics.hpp"

namespace {

using gr::collector;
using gr::heap_numbers;
using gr::HeapNumbers;
using gr::messages;

void set(GC_word *out, std::size_t bytes) {
    if (out != nullptr) *out = bytes;
}

template <class Write>
void line(Write write) {
    gr::TextBuffer<256> text;
    write(text);
    text << '\n';
    gr::write_line(messages.output, text);
}

void dump_kinds() {
    for (std::uint32_t i = 0; i < collector.kind_count(); ++i) {
        const gr_statistics s = gr::count_statistics(collector.kind(i)->instance);
        line([&](gr::Text &text) {
            text << "kind " << i << ": " << s.live_blocks << " objects, " << s.live_bytes << " bytes; " << s.superblocks
                 << " superblocks, " << s.run_count << " large objects, " << s.free_bytes + s.magazine_bytes
                 << " bytes free in them";
        });
    }
}

}  // namespace

extern "C" {

struct GC_prof_stats_s {
    GC_word heapsize_full;
    GC_word free_bytes_full;
    GC_word unmapped_bytes;
    GC_word bytes_allocd_since_gc;
    GC_word allocd_bytes_before_gc;
    GC_word non_gc_bytes;
    GC_word gc_no;
    GC_word markers_m1;
    GC_word bytes_reclaimed_since_gc;
    GC_word reclaimed_bytes_before_gc;
    GC_word expl_freed_bytes_since_gc;
    GC_word obtained_from_os_bytes;
};

GR_EXPORT std::size_t GC_get_heap_size() { return gr::heap_bytes(); }
GR_EXPORT std::size_t GC_get_free_bytes() { return heap_numbers().free; }
GR_EXPORT std::size_t GC_get_unmapped_bytes() { return heap_numbers().unmapped; }
GR_EXPORT std::size_t GC_get_bytes_since_gc() { return heap_numbers().since; }
GR_EXPORT std::size_t GC_get_expl_freed_bytes_since_gc() { return heap_numbers().freed; }
GR_EXPORT std::size_t GC_get_total_bytes() { return heap_numbers().total; }
GR_EXPORT std::size_t GC_get_obtained_from_os_bytes() { return heap_numbers().obtained; }
GR_EXPORT void GC_get_heap_usage_safe(GC_word *heap, GC_word *free, GC_word *unmapped, GC_word *since, GC_word *total) {
    const gr::Locked locked;
    const HeapNumbers numbers = heap_numbers();
    set(heap, numbers.heap);
    set(free, numbers.free);
    set(unmapped, numbers.unmapped);
    set(since, numbers.since);
    set(total, numbers.total);
}

GR_EXPORT std::size_t GC_get_prof_stats_unsafe(GC_prof_stats_s *out, std::size_t size) {
    const HeapNumbers n = heap_numbers();
    const GC_prof_stats_s all{.heapsize_full = n.heap,
                              .free_bytes_full = n.free,
                              .unmapped_bytes = n.unmapped,
                              .bytes_allocd_since_gc = n.since,
                              .allocd_bytes_before_gc = n.total - n.since,
                              .non_gc_bytes = gr::now(GC_non_gc_bytes),
                              .gc_no = gr::now(GC_gc_no),
                              .markers_m1 = static_cast<GC_word>(gr::now(GC_parallel)),
                              .bytes_reclaimed_since_gc = n.reclaimed,
                              .reclaimed_bytes_before_gc = n.reclaimed_ever,
                              .expl_freed_bytes_since_gc = n.freed,
                              .obtained_from_os_bytes = n.obtained};
    constexpr int kUnknown = 0xff;
    const std::size_t filled = size < sizeof all ? size : sizeof all;
    std::memcpy(static_cast<void *>(out), &all, filled);
    if (size > filled) std::memset(reinterpret_cast<char *>(out) + filled, kUnknown, size - filled);
    return filled;
}
GR_EXPORT std::size_t GC_get_prof_stats(GC_prof_stats_s *out, std::size_t size) {
    const gr::Locked locked;
    return GC_get_prof_stats_unsafe(out, size);
}

GR_EXPORT std::size_t GC_get_size_map_at(int bytes) {
    constexpr int kLast = 2048;
    if (bytes < 0 || bytes > kLast) return SIZE_MAX;
    return gr::size_of_class(gr::class_of(static_cast<std::size_t>(bytes) + (gr::has_more() ? 1 : 0)));
}
GR_EXPORT std::size_t GC_get_memory_use() {
    constexpr std::size_t kPage = 4096;
    const gr::Locked locked;
    return gr::align_up(gr::blocks_bytes(), kPage);
}

GR_EXPORT GC_word GC_get_gc_no() { return gr::now(GC_gc_no); }

GR_EXPORT void GC_start_performance_measurement() { gr::begin_to_measure(); }
GR_EXPORT unsigned long GC_get_full_gc_total_time() { return gr::measured_milliseconds(); }

GR_EXPORT void GC_dump_regions() { dump_kinds(); }
GR_EXPORT void GC_dump_finalization() {
    line([](gr::Text &text) {
        text << "finalizers: " << collector.finalization().finalizers.registered() << " registered, "
             << collector.finalization().finalizers.queued()
             << " queued; links: " << collector.finalization().short_links.size() << " short, "
             << collector.finalization().long_links.size() << " long";
    });
}
GR_EXPORT void GC_dump_named(const char *name) {
    const HeapNumbers n = heap_numbers();
    if (name != nullptr) line([&](gr::Text &text) { text << "*** " << name; });
    line([&](gr::Text &text) {
        text << "collection " << gr::now(GC_gc_no) << ": heap of " << n.heap << " bytes, " << n.free
             << " of them free, " << n.since << " allocated since, " << n.total << " ever; "
             << collector.roots().static_bytes() << " bytes of static roots";
    });
    dump_kinds();
    GC_dump_finalization();
}
GR_EXPORT void GC_dump() {
    const gr::Locked locked;
    GC_dump_named(nullptr);
}
// There is none: what is free lies in bitmaps.
GR_EXPORT void GC_print_free_list(int kind, std::size_t granules) {
    line([&](gr::Text &text) {
        text << "kind " << static_cast<unsigned>(kind) << ", " << granules * gr::kFineStep
             << " bytes: no list, free objects are bits";
    });
}

}  // extern "C"
