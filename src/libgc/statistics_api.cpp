// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: libgc's numbers and dumps.
// Invariant: a thread that holds the lock may ask for numbers, too. Dumps go to the client's output.
// Must not know: how the numbers are counted.
#include "libgc/statistics.hpp"

#include <cstring>

#include "instance/statistics.hpp"
#include "libgc/allocation.hpp"
#include "libgc/functions.hpp"
#include "libgc/locked.hpp"
#include "libgc/messages.hpp"
#include "libgc/performance.hpp"

namespace {

using gr::block_numbers;
using gr::BlockNumbers;
using gr::collector;
using gr::messages;
using gr::page_numbers;
using gr::PageNumbers;

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
                 << " free bytes in them";
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
GR_EXPORT std::size_t GC_get_free_bytes() { return page_numbers().free; }
GR_EXPORT std::size_t GC_get_unmapped_bytes() { return page_numbers().unmapped; }
GR_EXPORT std::size_t GC_get_bytes_since_gc() { return block_numbers().since; }
GR_EXPORT std::size_t GC_get_expl_freed_bytes_since_gc() { return gr::freed_since_last(); }
GR_EXPORT std::size_t GC_get_total_bytes() { return block_numbers().total; }
GR_EXPORT std::size_t GC_get_obtained_from_os_bytes() { return page_numbers().obtained; }
GR_EXPORT void GC_get_heap_usage_safe(GC_word *heap, GC_word *free, GC_word *unmapped, GC_word *since, GC_word *total) {
    const gr::Locked locked;
    const PageNumbers pages = page_numbers();
    const BlockNumbers blocks = block_numbers();
    set(heap, pages.heap);
    set(free, pages.free);
    set(unmapped, pages.unmapped);
    set(since, blocks.since);
    set(total, blocks.total);
}

GR_EXPORT std::size_t GC_get_prof_stats_unsafe(GC_prof_stats_s *out, std::size_t size) {
    const PageNumbers pages = page_numbers();
    const BlockNumbers blocks = block_numbers();
    const GC_prof_stats_s all{.heapsize_full = pages.heap,
                              .free_bytes_full = pages.free,
                              .unmapped_bytes = pages.unmapped,
                              .bytes_allocd_since_gc = blocks.since,
                              .allocd_bytes_before_gc = blocks.total - blocks.since,
                              .non_gc_bytes = gr::update_non_gc_bytes(),
                              .gc_no = gr::now(GC_gc_no),
                              .markers_m1 = static_cast<GC_word>(gr::now(GC_parallel)),
                              .bytes_reclaimed_since_gc = blocks.reclaimed,
                              .reclaimed_bytes_before_gc = blocks.reclaimed_ever,
                              .expl_freed_bytes_since_gc = gr::freed_since_last(),
                              .obtained_from_os_bytes = pages.obtained};
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

GR_EXPORT void GC_set_non_gc_bytes(GC_word bytes) {
    const gr::Locked locked;
    gr::update_non_gc_bytes();
    gr::store(GC_non_gc_bytes, bytes);
}
GR_EXPORT GC_word GC_get_non_gc_bytes() {
    const gr::Locked locked;
    return gr::update_non_gc_bytes();
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
    const PageNumbers pages = page_numbers();
    const BlockNumbers blocks = block_numbers();
    if (name != nullptr) line([&](gr::Text &text) { text << "*** " << name; });
    line([&](gr::Text &text) {
        text << "collection " << gr::now(GC_gc_no) << ": heap " << pages.heap << " bytes, " << pages.free
             << " of them free; allocated " << blocks.since << " since then, " << blocks.total << " in all; "
             << collector.roots().static_bytes() << " bytes of static roots";
    });
    dump_kinds();
    GC_dump_finalization();
}
GR_EXPORT void GC_dump() {
    const gr::Locked locked;
    GC_dump_named(nullptr);
}
// Does nothing: there are no free lists, only bitmaps.
GR_EXPORT void GC_print_free_list(int kind, std::size_t granules) {
    line([&](gr::Text &text) {
        text << "kind " << static_cast<unsigned>(kind) << ", " << granules * gr::kFineStep
             << " bytes: no list, since free objects are bits in bitmaps";
    });
}

}  // extern "C"
