// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: where in a running process Granary's heap, its collector and its profile keep their tables.
// Invariant: see heap_finder.hpp. The description tells itself from copies of it by its own address, so no symbol table
//    is needed: stripped, linked in and deleted files are found all the same.
// Must not know: what the tables say.
#include "reading/heap/heap_finder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/failure.hpp"

namespace gr::tool {

namespace {

constexpr std::uint64_t kPageOfAnySystem = 4096;
constexpr std::uint64_t kMostOfAnything = 1 << 20;  // of strides, counts and offsets that are small in any layout
constexpr std::uint64_t kMostWords = 1 << 10;       // of a bitmap
constexpr std::uint64_t kMostDescriptor = 1 << 12;  // bytes
constexpr std::uint64_t kMostTable = std::uint64_t{1} << 32;

bool all_small(std::initializer_list<std::uint64_t> numbers) {
    return std::ranges::all_of(numbers, [](std::uint64_t n) { return n <= kMostOfAnything; });
}

bool fits(std::uint64_t offset, std::uint64_t bytes, std::uint64_t record) {
    return offset <= record && bytes <= record - offset;
}

// A process may have overwritten its tables; then they are refused here, before anything is computed from them.
bool make_sense(const gr_heap_tables &t) {
    const bool small = all_small({t.unit_bytes, t.descriptor_stride, t.narrow_words, t.wide_words, t.class_count,
                                  t.class_stride, t.slab_bytes, t.heap_limit, t.magazines, t.magazine_stride,
                                  t.slots_offset, t.messages, t.message_stride, t.direct_stride});
    const bool some = t.unit_bytes >= kPageOfAnySystem && t.unit_bytes % ProcessMemory::page_bytes() == 0 &&
                      t.narrow_words > 0 && t.narrow_words <= kMostWords && t.wide_words > 0 &&
                      t.wide_words <= kMostWords && t.descriptor_stride <= kMostDescriptor &&
                      t.direct_stride <= kMostDescriptor && t.heap_limit * t.slab_bytes <= kMostTable &&
                      t.region_bytes / t.unit_bytes <= UINT32_MAX &&
                      t.region_begin + t.region_bytes >= t.region_begin &&
                      (t.region_bytes == 0 || t.tables_at - t.region_begin <= t.region_bytes);
    return small && some && fits(t.use_offset, 1, t.descriptor_stride) &&
           fits(t.units_offset, 4, t.descriptor_stride) && fits(t.class_offset, 4, t.descriptor_stride) &&
           fits(t.owner_offset, 4, t.descriptor_stride) && fits(t.tail_offset, 2, t.descriptor_stride) &&
           t.tail_page_bytes <= t.unit_bytes && fits(t.block_bytes_offset, 4, t.class_stride) &&
           fits(t.blocks_offset, 4, t.class_stride) && fits(t.superblock_units_offset, 4, t.class_stride) &&
           t.magazine_stride >= 8 && fits(0, t.magazines * t.magazine_stride, t.slab_bytes) &&
           fits(t.messages_offset, t.messages * t.message_stride, t.slab_bytes) &&
           fits(t.message_count_offset, 4, t.message_stride) && t.message_blocks_offset <= t.message_stride &&
           fits(0, 2 * sizeof(std::uint64_t), t.direct_stride) && fits(t.direct_mapper_offset, 8, t.direct_stride);
}

bool make_sense(const gr_collector_tables &t) {
    const bool small = all_small({t.number_offset, t.reason_offset, t.began_offset, t.stopped_offset, t.beside_offset,
                                  t.threads_offset, t.freed_blocks_offset, t.live_blocks_offset, t.live_bytes_offset,
                                  t.kinds_offset, t.kind_stride});
    return small && t.kind_stride >= 2 * sizeof(std::uint64_t);
}

bool make_sense(const gr_profile_tables &t) {
    constexpr std::uint64_t kSumBytes = 2 * sizeof(std::uint64_t);
    return all_small({t.site_stride, t.block_unit}) && t.mean != 0 && t.block_unit != 0 &&
           fits(t.allocated_offset, kSumBytes, t.site_stride) && fits(t.live_offset, kSumBytes, t.site_stride) &&
           fits(t.peak_offset, kSumBytes, t.site_stride) && fits(t.peak_seen_offset, 8, t.site_stride) &&
           fits(t.stack_offset, 8, t.site_stride);
}

struct Head {
    std::uint64_t magic;
    std::uint64_t version;
    std::uint64_t self;
};
static_assert(offsetof(gr_heap_tables, self) == offsetof(Head, self), "all tables begin alike");
static_assert(offsetof(gr_collector_tables, self) == offsetof(Head, self), "all tables begin alike");
static_assert(offsetof(gr_profile_tables, self) == offsetof(Head, self), "all tables begin alike");

[[noreturn]] void fail_overwritten(const ProcessMemory &memory, const std::string &file) {
    throw Failure(
        ExitCode::tool_failure,
        fmt::format("process {}: the description of its heap, in {}, has been overwritten", memory.process(), file));
}

// What begins with the head and lies there.
template <class Tables>
Tables read_tables(const ProcessMemory &memory, std::uint64_t at, const Head &head, std::uint64_t version,
                   const std::string &file) {
    if (head.version != version) {
        throw Failure(ExitCode::tool_failure,
                      fmt::format("process {} runs on another version of Granary: its tables are version {}, "
                                  "this command reads version {}; use the granary that came with {}",
                                  memory.process(), head.version, version, file));
    }
    Tables tables{};
    if (!memory.read(at, &tables, sizeof tables) || !make_sense(tables)) fail_overwritten(memory, file);
    return tables;
}

void search(const ProcessMemory &memory, const Mapping &mapping, FoundTables *found) {
    std::vector<char> page(ProcessMemory::page_bytes());
    for (std::uint64_t at = mapping.begin; at < mapping.end; at += page.size()) {
        if (!memory.read_touched(at, page.data(), page.size())) return;
        for (std::size_t i = 0; i < page.size(); i += GR_HEAP_TABLES_ALIGNMENT) {
            Head head{};
            std::memcpy(&head, page.data() + i, sizeof head);
            if (head.self != at + i) continue;
            if (head.magic == GR_HEAP_TABLES_MAGIC && !found->heap) {
                found->heap = {read_tables<gr_heap_tables>(memory, at + i, head, GR_HEAP_TABLES_VERSION, mapping.name),
                               mapping.name};
            } else if (head.magic == GR_COLLECTOR_TABLES_MAGIC && !found->collector) {
                found->collector = {
                    read_tables<gr_collector_tables>(memory, at + i, head, GR_COLLECTOR_TABLES_VERSION, mapping.name),
                    mapping.name};
            } else if (head.magic == GR_PROFILE_TABLES_MAGIC && !found->profile) {
                found->profile = {
                    read_tables<gr_profile_tables>(memory, at + i, head, GR_PROFILE_TABLES_VERSION, mapping.name),
                    mapping.name};
            }
        }
    }
}

}  // namespace

FoundTables find_tables(const ProcessMemory &memory, const std::vector<Mapping> &mappings) {
    FoundTables found;
    for (const Mapping &mapping : mappings) {
        // A description was written to, so its page is resident.
        const bool candidate = mapping.writable && !mapping.shared && mapping.name.starts_with('/');
        if (candidate && mapping.resident != 0) search(memory, mapping, &found);
        if (found.heap && found.collector && found.profile) break;
    }
    return found;
}

gr_heap_tables read_heap_tables(const ProcessMemory &memory, std::uint64_t at, const std::string &file) {
    Head head{};
    if (!memory.read(at, &head, sizeof head) || head.magic != GR_HEAP_TABLES_MAGIC || head.self != at)
        fail_overwritten(memory, file);
    return read_tables<gr_heap_tables>(memory, at, head, GR_HEAP_TABLES_VERSION, file);
}

}  // namespace gr::tool
