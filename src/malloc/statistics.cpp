// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the walk over bitmaps, magazines and descriptors, and the table that prints what it found.
// Invariant: the counting equation by construction: live is what the other states leave.
// Must not know: where the text goes.
#include "malloc/statistics.hpp"

#include <cstddef>
#include <cstring>
#include <iterator>

#include "base/printable.hpp"
#include "platform/events.hpp"
#include "platform/process.hpp"

namespace gr {
namespace {

struct Row {
    const char *name;
    std::uint64_t gr_statistics::*value;
    bool bytes;
    const char *meaning;
};

constexpr Row kTable[] = {
    {"live_bytes", &gr_statistics::live_bytes, true, "in use by the program, in usable bytes"},
    {"live_blocks", &gr_statistics::live_blocks, false, "blocks in use by the program"},
    {"block_bytes", &gr_statistics::block_bytes, true, "all blocks of all superblocks"},
    {"magazine_bytes", &gr_statistics::magazine_bytes, true, "free blocks cached in magazines and messages"},
    {"remote_bytes", &gr_statistics::remote_bytes, true,
     "blocks freed on another concurrency id, not yet collected by their owner"},
    {"free_bytes", &gr_statistics::free_bytes, true, "free blocks in superblocks"},
    {"run_bytes", &gr_statistics::run_bytes, true, "blocks in use that are whole units, included in live_bytes"},
    {"run_count", &gr_statistics::run_count, false, "number of these blocks"},
    {"direct_bytes", &gr_statistics::direct_bytes, true,
     "blocks in use that are mapped directly, included in live_bytes"},
    {"direct_count", &gr_statistics::direct_count, false, "number of these blocks"},
    {"tail_bytes", &gr_statistics::tail_bytes, true, "ends of superblocks that no block covers"},
    {"retained_bytes", &gr_statistics::retained_bytes, true, "empty units kept resident for the next request"},
    {"reuse_bytes", &gr_statistics::reuse_bytes, true, "part of retained_bytes that the reuse allowance keeps"},
    {"reuse_seconds", &gr_statistics::reuse_seconds, false, "seconds since the reuse allowance was last 0"},
    {"metadata_bytes", &gr_statistics::metadata_bytes, true, "committed for the allocator's own tables"},
    {"resident_bytes", &gr_statistics::resident_bytes, true, "resident set of the whole process (RSS)"},
    {"huge_bytes", &gr_statistics::huge_bytes, true, "part of resident_bytes in huge pages"},
    {"reserved_bytes", &gr_statistics::reserved_bytes, true, "reserved address space"},
    {"heap_bytes", &gr_statistics::heap_bytes, true, "address space of the units in use"},
    {"peak_heap_bytes", &gr_statistics::peak_heap_bytes, true, "maximum of heap_bytes + retained_bytes so far"},
    {"peak_direct_bytes", &gr_statistics::peak_direct_bytes, true, "maximum of direct_bytes so far"},
    {"superblocks", &gr_statistics::superblocks, false, "superblocks in use"},
    {"global_superblocks", &gr_statistics::global_superblocks, false,
     "superblocks in the global heap, included in superblocks"},
    {"heaps", &gr_statistics::heaps, false, "heaps used so far"},
    {"purged_bytes", &gr_statistics::purged_bytes, true, "returned to the kernel since the start"},
    {"purge_calls", &gr_statistics::purge_calls, false, "system calls that returned them"},
    {"rseq", &gr_statistics::rseq, false, "1: magazines use restartable sequences; 0: each call takes a lock"},
};

// Of the counted build only.
struct EventRow {
    const char *name;
    platform::Event event;
    const char *meaning;
};

constexpr EventRow kEvents[] = {
    {"refills", platform::Event::refill, "slow paths of allocation"},
    {"flushes", platform::Event::flush, "slow paths of free"},
    {"remote_flushes", platform::Event::remote_flush, "flushes of remote magazines"},
    {"letters", platform::Event::letter, "messages sent to other heaps"},
    {"locks", platform::Event::lock, "locks acquired, of any kind"},
    {"global_locks", platform::Event::global_lock, "locks of the global heap, included in locks"},
    {"page_heap_locks", platform::Event::page_heap_lock, "locks of the page heap, included in locks"},
    {"waits", platform::Event::wait, "lock acquisitions that had to wait"},
    {"atomic_operations", platform::Event::atomic_operation, "atomic read-modify-write operations"},
    {"aborted_sequences", platform::Event::aborted_sequence, "sequences aborted by preemption, migration or a signal"},
    {"system_calls", platform::Event::system_call, "system calls made by the allocator"},
};
static_assert(std::size(kEvents) == static_cast<unsigned>(platform::Event::count));

std::uint64_t clamped(std::uint64_t n, std::uint64_t limit) { return n < limit ? n : limit; }

// Reads a field once that another thread may be writing, so that the parts still add up.
template <class T>
T read_once(const T &field) {
    return *static_cast<const volatile T *>(&field);
}

void count_superblock(const Superblocks &superblocks, const Superblock *s, std::uint64_t (&blocks)[kClassCount],
                      gr_statistics *out) {
    const ClassIndex c(read_once(s->size_class.value));
    const ClassShape &shape = shape_of(c);
    const std::uint64_t free = clamped(read_once(s->free_count), shape.blocks);
    const std::uint64_t remote = clamped(superblocks.remote_count(s), shape.blocks - free);
    out->superblocks += 1;
    if (!is_heap(s->owner.load(std::memory_order_relaxed))) out->global_superblocks += 1;
    out->block_bytes += std::uint64_t{shape.blocks} * shape.size;
    out->tail_bytes += shape.bytes() - std::uint64_t{shape.blocks} * shape.size;
    out->free_bytes += free * shape.size;
    out->remote_bytes += remote * shape.size;
    blocks[c.value] += shape.blocks - free - remote;
}

void put_row(Text &line, const Row &row, std::uint64_t value, StatisticsFormat format, bool last) {
    switch (format) {
        case StatisticsFormat::text:
            line << row.name;
            line.pad(0, 20) << value;
            line.pad(0, 36) << (row.bytes ? "bytes  " : "       ") << row.meaning << '\n';
            break;
        case StatisticsFormat::json:
            line << "  \"" << row.name << "\": " << value << (last ? "\n" : ",\n");
            break;
        case StatisticsFormat::xml:
            line << "<" << row.name << ">" << value << "</" << row.name << ">\n";
            break;
    }
}

constexpr std::size_t kOriginBytes = 2 * kCommandBytes + 160;  // JSON may double the length of the command

void put_origin(Text &line, const Origin &origin, StatisticsFormat format) {
    switch (format) {
        case StatisticsFormat::text:
            line << "granary: statistics of process " << origin.process << ": " << origin.command << '\n';
            break;
        case StatisticsFormat::json:
            line << "  \"pid\": " << origin.process << ",\n  \"command\": ";
            put_json_string(line, origin.command);
            line << ",\n";
            break;
        case StatisticsFormat::xml:
            break;  // the program that calls malloc_info(3) knows its process
    }
}

// Adds the numbers of another instance, except its peaks and its number of heaps.
void add_statistics(const gr_statistics &more, gr_statistics *out) {
    static constexpr std::uint64_t gr_statistics::*kSums[] = {
        &gr_statistics::live_bytes,     &gr_statistics::live_blocks,    &gr_statistics::block_bytes,
        &gr_statistics::magazine_bytes, &gr_statistics::remote_bytes,   &gr_statistics::free_bytes,
        &gr_statistics::run_bytes,      &gr_statistics::run_count,      &gr_statistics::tail_bytes,
        &gr_statistics::retained_bytes, &gr_statistics::metadata_bytes, &gr_statistics::reserved_bytes,
        &gr_statistics::heap_bytes,     &gr_statistics::superblocks,    &gr_statistics::global_superblocks,
        &gr_statistics::purged_bytes,   &gr_statistics::purge_calls};
    for (const auto sum : kSums) out->*sum += more.*sum;
}

}  // namespace

std::size_t metadata_bytes(const Instance &allocator) {
    return allocator.region().metadata_bytes() + allocator.heaps().active_heaps() * kSlabBytes;
}

gr_statistics count_statistics(const Instance &allocator) {
    gr_statistics out{};
    out.size = sizeof out;
    out.version = GR_STATISTICS_VERSION;
    const Region &region = allocator.region();
    const Superblocks &superblocks = allocator.superblocks();
    std::uint64_t out_blocks[kClassCount] = {};  // neither free nor freed remotely: in use or cached
    for (UnitIndex u = region.first_unit(); u < region.unit_end();) {
        const Superblock *const s = superblocks.descriptor(u);
        UnitCount step(1);
        if (s->use == UnitUse::superblock) {
            count_superblock(superblocks, s, out_blocks, &out);
            step = s->units;
        } else if (s->use == UnitUse::run) {
            out.run_bytes += s->bytes();
            out.run_count += 1;
            step = s->units;
        }
        u = u + (step.value == 0 ? UnitCount(1) : step);
    }
    std::uint64_t cached[kClassCount] = {};
    allocator.heaps().count_cached(cached);
    for (std::uint32_t c = 1; c < kClassCount; ++c) {
        // Other threads may move blocks meanwhile; the counting equation still holds.
        const std::uint64_t in_magazines = clamped(cached[c], out_blocks[c]);
        const std::uint64_t live = out_blocks[c] - in_magazines;
        out.magazine_bytes += in_magazines * size_of_class(ClassIndex(c));
        out.live_bytes += live * size_of_class(ClassIndex(c));
        out.live_blocks += live;
    }
    out.direct_bytes = allocator.direct().bytes();
    out.direct_count = allocator.direct().count();
    out.live_bytes += out.run_bytes + out.direct_bytes;
    out.live_blocks += out.run_count + out.direct_count;
    out.retained_bytes = allocator.pages().retained_bytes();
    out.reuse_bytes = allocator.pages().reuse_bytes();
    out.reuse_seconds = allocator.pages().reuse_seconds();
    out.metadata_bytes = metadata_bytes(allocator);
    out.reserved_bytes = region.reserved_bytes();
    out.heap_bytes = allocator.pages().used_bytes();
    out.peak_heap_bytes = allocator.pages().peak_bytes();
    out.peak_direct_bytes = allocator.direct().peak_bytes();
    out.heaps = allocator.heaps().active_heaps();
    out.purged_bytes = allocator.pages().purged_bytes() + allocator.heaps().swept_bytes();
    out.purge_calls = allocator.pages().purge_calls() + allocator.heaps().sweep_calls();
    out.rseq = allocator.heaps().uses_sequences() ? 1 : 0;
    if (const Instance *const companion = allocator.companion()) add_statistics(count_statistics(*companion), &out);
    return out;
}

gr_statistics snapshot(const Instance &allocator) {
    gr_statistics out = count_statistics(allocator);
    out.resident_bytes = platform::resident_bytes();
    out.huge_bytes = platform::huge_page_bytes();
    return out;
}

bool copy_statistics(const Instance &allocator, gr_statistics *out) {
    constexpr std::uint32_t kHeadBytes = 2 * sizeof(std::uint32_t);
    if (out == nullptr || out->size < kHeadBytes) return false;
    gr_statistics full = count_statistics(allocator);
    if (out->size < full.size) full.size = out->size;
    if (full.size > offsetof(gr_statistics, resident_bytes)) full.resident_bytes = platform::resident_bytes();
    if (full.size > offsetof(gr_statistics, huge_bytes)) full.huge_bytes = platform::huge_page_bytes();
    std::memcpy(out, &full, full.size);
    return true;
}

void print_statistics(const gr_statistics &statistics, StatisticsFormat format,
                      void (*put)(void *sink, const Text &line), void *sink, const Origin *origin) {
    TextBuffer<kOriginBytes> line;
    const bool json = format == StatisticsFormat::json;
    if (json) put(sink, static_cast<Text &>(line << "{\n  \"version\": " << statistics.version << ",\n"));
    if (origin != nullptr) {
        line.clear();
        put_origin(line, *origin, format);
        put(sink, line);
    }
    for (const Row &row : kTable) {
        line.clear();
        put_row(line, row, statistics.*row.value, format, !kCounted && &row + 1 == std::end(kTable));
        put(sink, line);
    }
    for (const EventRow &row : kEvents) {
        if (!kCounted) break;
        line.clear();
        put_row(line, {row.name, nullptr, false, row.meaning}, platform::counted(row.event), format,
                &row + 1 == std::end(kEvents));
        put(sink, line);
    }
    line.clear();
    if (json) put(sink, static_cast<Text &>(line << "}\n"));
}

}  // namespace gr
