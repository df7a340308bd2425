// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      the map of a heap: a row of cells in the order of addresses, each the same number of units, and how full
//            the resident part of each is with live blocks; and that map for a terminal.
// Invariant: the cells cover every unit up to the last that has anything resident.
// Must not know: how the heap was read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heap_snapshot.hpp"

namespace gr::tool {

struct MapCell {
    double resident = 0;                       // bytes
    double live = 0;                           // of them, live ones
    double empty = 0;                          // of them, in units that nothing uses
    double run = 0;                            // of the live ones, in runs of whole units
    std::uint32_t superblock_block_bytes = 0;  // of the last superblock that begins in it
};

enum class MapShade : std::uint8_t { kAbsent, kEmpty, kQuarter, kHalf, kThreeQuarters, kFull };
inline constexpr std::size_t kMapShades = 6;
// What it means, for a legend.
[[nodiscard]] const char *shade_text(MapShade shade);
[[nodiscard]] MapShade shade_of(const MapCell &cell);

struct HeapMap {
    std::uint64_t units_in_cell = 1;
    std::uint64_t unit_bytes = 0;
    std::vector<MapCell> cells;
};

// As fine as at most `cells` cells allow; a cell is a power of two of units.
[[nodiscard]] HeapMap make_map(const HeapSnapshot &heap, std::uint64_t cells);

// As wide as the terminal: rows of characters with the distance from the heap's beginning before them, and a legend.
[[nodiscard]] std::string terminal_map(const HeapSnapshot &heap);

}  // namespace gr::tool
