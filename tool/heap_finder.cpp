// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      where in a running process Granary's heap keeps its tables.
// Invariant: see heap_finder.hpp. The description tells itself from copies of it by its own address, so no symbol
//            table is needed: stripped, linked in and deleted files are found all the same.
// Must not know: what the tables say.
#include "heap_finder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "failure.hpp"

namespace gr::tool {

namespace {

constexpr std::uint64_t kPageOfAnySystem = 4096;
constexpr std::uint64_t kMostOfAnything = 1 << 20;  // of strides, counts and offsets that are small in any layout

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
                                  t.slots_offset, t.letters, t.letter_stride, t.direct_entries, t.direct_stride});
    const bool some = t.unit_bytes >= kPageOfAnySystem && t.unit_bytes % ProcessMemory::page_bytes() == 0 &&
                      t.narrow_words > 0 && t.wide_words > 0 && t.region_bytes / t.unit_bytes <= UINT32_MAX &&
                      t.region_begin + t.region_bytes >= t.region_begin;
    return small && some && fits(t.use_offset, 1, t.descriptor_stride) &&
           fits(t.units_offset, 4, t.descriptor_stride) && fits(t.class_offset, 4, t.descriptor_stride) &&
           fits(t.owner_offset, 4, t.descriptor_stride) && fits(t.block_bytes_offset, 4, t.class_stride) &&
           fits(t.blocks_offset, 4, t.class_stride) && fits(t.superblock_units_offset, 4, t.class_stride) &&
           t.magazine_stride >= 8 && fits(0, t.magazines * t.magazine_stride, t.slab_bytes) &&
           fits(t.letters_offset, t.letters * t.letter_stride, t.slab_bytes) &&
           fits(t.letter_count_offset, 4, t.letter_stride) && t.letter_blocks_offset <= t.letter_stride &&
           fits(0, 2 * sizeof(std::uint64_t), t.direct_stride) && fits(t.direct_mapper_offset, 8, t.direct_stride);
}

// Where a mapping holds the description; nothing where it holds none.
std::optional<gr_heap_tables> search(const ProcessMemory &memory, const Mapping &mapping) {
    std::vector<char> page(ProcessMemory::page_bytes());
    for (std::uint64_t at = mapping.begin; at < mapping.end; at += page.size()) {
        if (!memory.read_touched(at, page.data(), page.size())) return std::nullopt;
        for (std::size_t i = 0; i < page.size(); i += GR_HEAP_TABLES_ALIGNMENT) {
            std::array<std::uint64_t, 3> head{};  // magic, version, self
            static_assert(offsetof(gr_heap_tables, self) == 2 * sizeof head[0]);
            std::memcpy(head.data(), page.data() + i, sizeof head);
            if (head[0] != GR_HEAP_TABLES_MAGIC || head[2] != at + i) continue;
            if (head[1] != GR_HEAP_TABLES_VERSION) {
                throw Failure(ExitCode::kToolFailure,
                              fmt::format("process {} runs on another version of Granary: its tables are version {}, "
                                          "this command reads version {}; use the granary that came with {}",
                                          memory.process(), head[1], GR_HEAP_TABLES_VERSION, mapping.name));
            }
            gr_heap_tables tables{};
            if (memory.read(at + i, &tables, sizeof tables)) return tables;
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<FoundHeap> find_heap(const ProcessMemory &memory, const std::vector<Mapping> &mappings) {
    for (const Mapping &mapping : mappings) {
        // The description was written to, so its page is resident.
        const bool candidate = mapping.writable && !mapping.shared && mapping.name.starts_with('/');
        if (!candidate || mapping.resident == 0) continue;
        const std::optional<gr_heap_tables> tables = search(memory, mapping);
        if (!tables) continue;
        if (!make_sense(*tables)) {
            throw Failure(ExitCode::kToolFailure,
                          fmt::format("process {}: the description of its heap, in {}, has been overwritten",
                                      memory.process(), mapping.name));
        }
        return FoundHeap{*tables, mapping.name};
    }
    return std::nullopt;
}

}  // namespace gr::tool
