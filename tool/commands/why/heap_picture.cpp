// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/why/heap_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string_view>

#include "base/picture.hpp"
#include "base/text.hpp"
#include "reading/heap/heap_map.hpp"

namespace gr::tool {

namespace {

constexpr std::size_t kColumns = 128;
constexpr std::size_t kMostRows = 96;
constexpr std::size_t kCell = 7;  // pixels
constexpr std::size_t kLeft = 70;
constexpr std::size_t kTop = 46;
constexpr std::size_t kTitle = 18;
constexpr std::size_t kGap = 24;  // below a map
constexpr std::size_t kLegend = 60 - kGap;
constexpr std::size_t kRowsLabelled = 8;

// From light to dark, so that it survives colour blindness and grey printing.
constexpr std::array<std::string_view, kMapShades> kColours{kPaper,    "#d8d8d8", "#fde725",
                                                            "#5ec962", "#21918c", "#3b528b"};

std::string tip(const HeapMap &map, std::size_t first, std::size_t end) {
    MapCell sum;
    for (std::size_t i = first; i < end; ++i) {
        sum.resident += map.cells[i].resident;
        sum.live += map.cells[i].live;
        sum.run += map.cells[i].run;
        sum.superblock_block_bytes = std::max(sum.superblock_block_bytes, map.cells[i].superblock_block_bytes);
    }
    const auto whole = [](double bytes) { return static_cast<std::uint64_t>(std::llround(bytes)); };
    const std::uint64_t cell_bytes = map.units_in_cell * map.unit_bytes;
    std::string text = fmt::format("{} from the beginning: {} resident, {} in use", bytes_text(first * cell_bytes),
                                   bytes_text(whole(sum.resident)), bytes_text(whole(sum.live)));
    if (sum.run > 0) text += fmt::format(", {} in large blocks", bytes_text(whole(sum.run)));
    if (sum.superblock_block_bytes != 0) {
        text += fmt::format(", blocks of up to {} bytes", sum.superblock_block_bytes);
    }
    return text;
}

// Neighbours of one colour become one rectangle.
void draw_row(std::string *svg, const HeapMap &map, std::size_t first, std::size_t y) {
    const std::size_t end = std::min(map.cells.size(), first + kColumns);
    for (std::size_t i = first; i < end;) {
        const MapShade shade = shade_of(map.cells[i]);
        std::size_t next = i + 1;
        while (next < end && shade_of(map.cells[next]) == shade) ++next;
        if (shade != MapShade::absent) {
            fmt::format_to(std::back_inserter(*svg),
                           "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"><title>{}</title></rect>\n",
                           kLeft + (i - first) * kCell, y, (next - i) * kCell, kCell,
                           kColours[static_cast<std::size_t>(shade)], tip(map, i, next));
        }
        i = next;
    }
}

void draw_legend(std::string *svg, std::size_t y) {
    constexpr std::size_t kPlace = 160;
    for (std::size_t i = 0; i < kMapShades; ++i) {
        const std::size_t x = kLeft + i * kPlace;
        fmt::format_to(std::back_inserter(*svg),
                       "<rect x=\"{}\" y=\"{}\" width=\"12\" height=\"12\" fill=\"{}\"{} stroke=\"#808080\"/>\n"
                       "<text x=\"{}\" y=\"{}\">{}</text>\n",
                       x, y, kColours[i], kColours[i] == kPaper ? " class=\"paper\"" : "", x + 18, y + 10,
                       shade_text(static_cast<MapShade>(i)));
    }
}

std::size_t rows_of(const HeapMap &map) { return (map.cells.size() + kColumns - 1) / kColumns; }
std::size_t height_of(const HeapMap &map) { return kTitle + rows_of(map) * kCell + kGap; }

// With its title, from there on downwards.
void draw_map(std::string *svg, const HeapMap &map, std::size_t top) {
    const auto out = std::back_inserter(*svg);
    const std::uint64_t cell_bytes = map.units_in_cell * map.unit_bytes;
    fmt::format_to(out,
                   "<text x=\"{}\" y=\"{}\">{}: addresses grow to the right and downwards; one cell is {}, one row "
                   "{}</text>\n",
                   kLeft, top, escape(title_of(*map.heap)), bytes_text(cell_bytes), bytes_text(cell_bytes * kColumns));
    top += kTitle;
    for (std::size_t row = 0; row < rows_of(map); ++row) {
        const std::size_t y = top + row * kCell;
        if (row % kRowsLabelled == 0) {
            fmt::format_to(out, "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" font-size=\"10\">{}</text>\n", kLeft - 6,
                           y + kCell, size_text(row * kColumns * cell_bytes));
        }
        draw_row(svg, map, row * kColumns, y);
    }
    fmt::format_to(out, "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#808080\"/>\n",
                   kLeft, top, kColumns * kCell, rows_of(map) * kCell);
}

}  // namespace

std::string heap_picture(const Explanation &explanation) {
    const std::vector<HeapMap> maps = make_maps(explanation.heaps, kColumns * kMostRows);
    std::size_t height = kTop + kLegend;
    for (const HeapMap &map : maps) height += height_of(map);
    std::string svg = empty_sheet(kLeft * 2 + kColumns * kCell, height);
    fmt::format_to(std::back_inserter(svg),
                   "<text x=\"{0}\" y=\"24\" font-size=\"16\">The heap{1} of process {2} ({3}), RSS {4}</text>\n",
                   kLeft, maps.size() > 1 ? "s" : "", explanation.process, escape(explanation.executable),
                   bytes_text(explanation.resident));
    std::size_t y = kTop;
    for (const HeapMap &map : maps) {
        draw_map(&svg, map, y);
        y += height_of(map);
    }
    draw_legend(&svg, y);
    return svg + "</svg>\n";
}

}  // namespace gr::tool
