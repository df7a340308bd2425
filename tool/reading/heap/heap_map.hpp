// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the maps of heaps: each a row of cells in the order of addresses, each the same number of units, and how full
//    the resident part of each is with live blocks; and these maps for a terminal.
// Invariant: the cells cover every unit up to the last that has anything resident.
// Must not know: how the heap was read.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "reading/heap/explained_heap.hpp"

namespace gr::tool {

struct MapCell {
    double resident = 0;                       // bytes
    double live = 0;                           // of them, live ones
    double empty = 0;                          // of them, in units that nothing uses
    double run = 0;                            // of the live ones, in runs of whole units
    std::uint32_t superblock_block_bytes = 0;  // of the last superblock that begins in it
};

enum class MapShade : std::uint8_t { absent, empty, quarter, half, three_quarters, full };
inline constexpr std::size_t kMapShades = 6;
// What it means, for a legend.
[[nodiscard]] const char *shade_text(MapShade shade);
[[nodiscard]] MapShade shade_of(const MapCell &cell);

struct HeapMap {
    const ExplainedHeap *heap = nullptr;
    std::uint64_t units_in_cell = 1;
    std::uint64_t unit_bytes = 0;
    std::vector<MapCell> cells;
};

// Of each heap that has anything resident, as fine as about `cells` cells for all allow; a cell is a power of two of units,
// the same in all.
[[nodiscard]] std::vector<HeapMap> make_maps(std::span<const ExplainedHeap> heaps, std::uint64_t cells);

// "the heap", "the heap (scanned)".
[[nodiscard]] std::string title_of(const ExplainedHeap &heap);

// As wide as the terminal: rows of characters with the distance from the heap's beginning before them, and a legend.
[[nodiscard]] std::string terminal_map(std::span<const ExplainedHeap> heaps);

}  // namespace gr::tool
