// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/heap/heap_map.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <string_view>

#include "base/text.hpp"
#include "base/variables.hpp"

namespace gr::tool {

namespace {

constexpr std::size_t kUsualWidth = 80;
constexpr std::size_t kLeastWidth = 40;
constexpr std::size_t kMostRows = 40;
constexpr std::size_t kColumnStep = 16;  // so that rows begin at round distances
constexpr std::size_t kMargin = 10;      // for the distance from the beginning

// The part of a span that lies in a cell.
void add_to(MapCell *cell, const Span &span, double share) {
    double resident = 0;
    for (const Amount &a : span.amounts) resident += a.resident * share;
    const double live = amount(span.amounts, Part::live).resident * share;
    cell->resident += resident;
    cell->live += live;
    cell->empty += amount(span.amounts, Part::empty).resident * share;
    if (span.block_bytes == 0) cell->run += live;
    if (span.block_bytes != 0) cell->superblock_block_bytes = span.block_bytes;
}

std::uint64_t last_resident_unit(const HeapSnapshot &heap) {
    for (auto span = heap.spans.rbegin(); span != heap.spans.rend(); ++span) {
        for (const Amount &a : span->amounts) {
            if (a.resident > 0) return span->first_unit + span->units;
        }
    }
    return 0;
}

// The cells of so many units of its heap.
void fill(HeapMap *map, std::uint64_t units) {
    for (const Span &span : map->heap->snapshot.spans) {
        const std::uint64_t end = std::min(span.first_unit + span.units, units);
        for (std::uint64_t unit = span.first_unit; unit < end;) {
            const std::uint64_t cell = unit / map->units_in_cell;
            const std::uint64_t next = std::min(end, (cell + 1) * map->units_in_cell);
            add_to(&map->cells[cell], span, static_cast<double>(next - unit) / static_cast<double>(span.units));
            unit = next;
        }
    }
}

std::size_t terminal_width() {
    struct winsize size {};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0) {
        return std::max<std::size_t>(size.ws_col, kLeastWidth);
    }
    const std::string columns = variable("COLUMNS").value_or("");
    std::size_t width = 0;
    const auto parsed = std::from_chars(columns.data(), columns.data() + columns.size(), width);
    if (parsed.ec != std::errc{} || width > UINT16_MAX) return kUsualWidth;
    return std::max(width, kLeastWidth);
}

bool unicode_wanted() {
    for (const char *name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const std::string value = variable(name).value_or("");
        if (value.empty()) continue;
        return value.find("UTF-8") != std::string::npos || value.find("utf8") != std::string::npos;
    }
    return false;
}

}  // namespace

const char *shade_text(MapShade shade) {
    static constexpr std::array<const char *, kMapShades> kTexts{"not resident",      "resident and empty",
                                                                 "up to 25 % in use", "up to 50 % in use",
                                                                 "up to 75 % in use", "more in use"};
    return kTexts[static_cast<std::size_t>(shade)];
}

MapShade shade_of(const MapCell &cell) {
    if (cell.resident <= 0) return MapShade::absent;
    if (cell.empty >= cell.resident) return MapShade::empty;
    const double full = cell.live / cell.resident;
    if (full <= 0.25) return MapShade::quarter;
    if (full <= 0.5) return MapShade::half;
    return full <= 0.75 ? MapShade::three_quarters : MapShade::full;
}

std::string title_of(const ExplainedHeap &heap) {
    return heap.is_malloc ? "the heap" : fmt::format("the heap ({})", heap.name);
}

std::vector<HeapMap> make_maps(std::span<const ExplainedHeap> heaps, std::uint64_t cells) {
    std::uint64_t all = 0;
    for (const ExplainedHeap &heap : heaps) all += last_resident_unit(heap.snapshot);
    std::uint64_t units_in_cell = 1;
    while (all / units_in_cell > cells) units_in_cell *= 2;
    std::vector<HeapMap> maps;
    for (const ExplainedHeap &heap : heaps) {
        const std::uint64_t units = last_resident_unit(heap.snapshot);
        if (units == 0) continue;
        maps.push_back({&heap, units_in_cell, heap.snapshot.unit_bytes, {}});
        maps.back().cells.resize((units + units_in_cell - 1) / units_in_cell);
        fill(&maps.back(), units);
    }
    return maps;
}

std::string terminal_map(std::span<const ExplainedHeap> heaps) {
    static constexpr std::array<std::string_view, kMapShades> kUnicode{" ", "·", "░", "▒", "▓", "█"};
    static constexpr std::array<std::string_view, kMapShades> kAscii{" ", ".", "-", "+", "x", "#"};
    const auto &messages = unicode_wanted() ? kUnicode : kAscii;
    const std::size_t columns = (terminal_width() - kMargin) / kColumnStep * kColumnStep;
    std::string result;
    const auto out = std::back_inserter(result);
    for (const HeapMap &map : make_maps(heaps, columns * kMostRows)) {
        const std::uint64_t cell_bytes = map.units_in_cell * map.unit_bytes;
        fmt::format_to(out, "\n{} by address: {} per character, {} per row\n", title_of(*map.heap),
                       bytes_text(cell_bytes), bytes_text(cell_bytes * columns));
        for (std::size_t row = 0; row < map.cells.size(); row += columns) {
            fmt::format_to(out, "{:>{}} ", size_text(row * cell_bytes), kMargin - 2);
            result += '|';
            const std::size_t end = std::min(map.cells.size(), row + columns);
            for (std::size_t i = row; i < end; ++i)
                result += messages[static_cast<std::size_t>(shade_of(map.cells[i]))];
            result += '\n';
        }
    }
    result += "\n";
    for (std::size_t i = 0; i < kMapShades; ++i) {
        fmt::format_to(out, "{:>{}}  {}\n", fmt::format("'{}'", messages[i]), kMargin,
                       shade_text(static_cast<MapShade>(i)));
    }
    return result;
}

}  // namespace gr::tool
