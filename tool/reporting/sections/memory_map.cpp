// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reporting/sections/memory_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "reporting/charts/shades.hpp"
#include "reporting/document/words.hpp"

namespace gr::tool {

static_assert(AddressGrid::kColumns == TimeAxis::kPoints, "a column is a point of the time axis");

namespace {

// Blocks of events that lie within the time tell by their summaries; those across its ends are read.
std::uint64_t births_in(const Scope &scope) {
    std::uint64_t births = 0;
    trace::BlockReader reader;
    for (const trace::EventBlock &block : scope.trace.blocks()) {
        const trace::Time first{block.summary.first_time};
        const trace::Time last{block.summary.last_time};
        if (last < scope.time.first() || scope.time.last() < first) continue;
        if (scope.time.has(first) && scope.time.has(last)) {
            births += block.summary.obtained;
            continue;
        }
        try {
            trace::Event event;
            for (reader.begin(block); reader.next(&event);)
                births += obtains(event.op) && event.address != 0 && scope.time.has(event.time) ? 1 : 0;
        } catch (const trace::Damage &) {
            continue;  // the stream of events leaves it out, and counts it
        }
    }
    return births;
}

}  // namespace

MemoryMap::MemoryMap(const Scope &scope)
    : scope_(scope), grid_(static_cast<unsigned>(std::bit_width(scope.page_bytes())) - 1) {
    all_births_ = births_in(scope);
    next_column_births_ = all_births_ / AddressGrid::kColumns + 1;
}

// Column c ends with the last birth whose number, from 0, lies below (c + 1) / kColumns of all.
void MemoryMap::end_births_column(trace::Time time) {
    const std::uint64_t column = std::min<std::uint64_t>(
        births_ * AddressGrid::kColumns / std::max<std::uint64_t>(all_births_, 1), AddressGrid::kColumns);
    grid_.end_columns(AddressGrid::kBirths, static_cast<std::uint32_t>(column));
    births_column_ends_.resize(column, time);
    next_column_births_ = (column + 1) * all_births_ / AddressGrid::kColumns;
    if (next_column_births_ * AddressGrid::kColumns < (column + 1) * all_births_) ++next_column_births_;
}

void MemoryMap::finish() {
    grid_.end_columns(AddressGrid::kTime, AddressGrid::kColumns);
    grid_.end_columns(AddressGrid::kBirths, AddressGrid::kColumns);
    births_column_ends_.resize(AddressGrid::kColumns, scope_.time.last());
}

// Of so many neighbours each; a gap that is wider than so many cells has a row of its own.
std::vector<MemoryMap::Row> MemoryMap::rows(std::size_t cells_a_row, std::uint64_t widest) const {
    const std::vector<std::uint64_t> &cells = grid_.cells();
    const unsigned log = grid_.cell_log();
    std::vector<std::uint32_t> by_address(cells.size());
    std::iota(by_address.begin(), by_address.end(), 0U);
    std::sort(by_address.begin(), by_address.end(), [&](auto a, auto b) { return cells[a] < cells[b]; });
    std::vector<Row> rows;
    for (const std::uint32_t place : by_address) {
        const std::uint64_t begin = cells[place] << log;
        const bool is_behind_gap = !rows.empty() && (begin - rows.back().end) >> log > widest;
        if (is_behind_gap) rows.push_back({rows.back().end, begin, {}});
        if (rows.empty() || is_behind_gap || rows.back().places.size() >= cells_a_row)
            rows.push_back({rows.empty() ? begin : rows.back().end, begin, {}});
        rows.back().end = begin + (std::uint64_t{1} << log);
        rows.back().places.push_back(place);
    }
    return rows;
}

std::vector<MemoryMap::Row> MemoryMap::rows() const {
    constexpr unsigned kWiderLog = 2;
    std::size_t cells_a_row = (grid_.cells().size() + kMostRows - 1) / kMostRows;
    std::vector<Row> found = rows(cells_a_row, 0);
    for (std::uint64_t widest = 1; found.size() > kMostRows; widest <<= kWiderLog) {
        if (widest > grid_.cells().size()) ++cells_a_row;
        found = rows(cells_a_row, widest);
    }
    return found;
}

std::vector<trace::Time> MemoryMap::time_column_ends() const {
    std::vector<trace::Time> ends;
    const std::uint64_t first = scope_.time.first().units;
    const auto units = static_cast<double>(scope_.time.last().units - first + 1);
    for (std::uint32_t i = 1; i <= AddressGrid::kColumns; ++i)
        ends.push_back(trace::Time{first + static_cast<std::uint64_t>(units * i / AddressGrid::kColumns)});
    return ends;
}

// Nothing of a damaged one: what was resident before it is not known to have changed.
std::optional<trace::Resident> MemoryMap::look(const trace::ResidentBlock &block) const {
    try {
        return scope_.trace.resident(block);
    } catch (const trace::Damage &) {
        return std::nullopt;
    }
}

// Of each column what was resident the last time that it was looked at.
Cells MemoryMap::resident(const std::vector<Row> &rows, const std::vector<trace::Time> &column_ends) const {
    const auto width = static_cast<double>(std::uint64_t{1} << grid_.cell_log());
    std::vector<double> shares(rows.size() * AddressGrid::kColumns);
    const auto &looks = scope_.trace.residents();
    for (std::size_t i = 0; i < looks.size(); ++i) {
        const auto column_of = [&](std::uint64_t time) {
            return std::upper_bound(column_ends.begin(), column_ends.end(), trace::Time{time}) - column_ends.begin();
        };
        const auto from = column_of(looks[i].summary.time);
        const auto to = i + 1 < looks.size() ? column_of(looks[i + 1].summary.time) : AddressGrid::kColumns;
        if (from >= to) continue;
        const std::optional<trace::Resident> look = this->look(looks[i]);
        if (!look) continue;
        const trace::Resident &resident = *look;
        auto run = resident.runs.begin();
        for (std::size_t row = 0; row < rows.size(); ++row) {
            while (run != resident.runs.end() && run->begin + run->bytes <= rows[row].begin) ++run;
            double bytes = 0;
            for (auto at = run; at != resident.runs.end() && at->begin < rows[row].end; ++at) {
                bytes += static_cast<double>(std::min(at->begin + at->bytes, rows[row].end) -
                                             std::max(at->begin, rows[row].begin));
            }
            if (rows[row].places.empty()) continue;
            const double share = std::min(1.0, bytes / (width * static_cast<double>(rows[row].places.size())));
            for (auto column = from; column < to; ++column)
                shares[row * AddressGrid::kColumns + static_cast<std::size_t>(column)] = share;
        }
    }
    return shades_of(shares, 0, 1, Scale::linear);
}

HeatChart MemoryMap::chart(const std::vector<Row> &rows, AddressGrid::Axis axis) const {
    HeatChart chart;
    const bool is_time = axis == AddressGrid::kTime;
    chart.title = is_time ? "Memory over time" : "Memory by blocks allocated";
    chart.x = is_time ? Axis{"time", Unit::time} : Axis{"blocks allocated", Unit::events};
    chart.y = {"address", Unit::address};
    chart.scale = {"in use", Unit::fraction};
    chart.columns = AddressGrid::kColumns;
    chart.rows = static_cast<std::uint32_t>(rows.size());
    chart.x_edges = is_time ? scope_.time.ends() : std::vector<double>{0, static_cast<double>(all_births_)};
    chart.y_edges = {static_cast<double>(rows.front().begin)};
    chart.high = 1;
    const auto width = static_cast<double>(std::uint64_t{1} << grid_.cell_log());
    std::vector<double> shares;
    shares.reserve(rows.size() * AddressGrid::kColumns);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        const std::vector<std::uint32_t> &places = rows[row].places;
        chart.y_edges.push_back(static_cast<double>(rows[row].end));
        if (places.empty()) chart.y_gaps.push_back(static_cast<double>(row));
        for (const std::vector<float> &column : grid_.columns(axis)) {
            double bytes = 0;
            for (const std::uint32_t place : places) bytes += place < column.size() ? column[place] : 0;
            shares.push_back(places.empty() ? 0 : std::min(1.0, bytes / (width * static_cast<double>(places.size()))));
        }
    }
    chart.cells = shades_of(shares, 0, 1, Scale::linear);
    if (!scope_.trace.residents().empty())
        chart.beside.push_back({"resident", resident(rows, is_time ? time_column_ends() : births_column_ends_)});
    return chart;
}

Section MemoryMap::section() const {
    Section section{"map", "Where does the program's memory lie, and how full is it?", "", {}};
    if (grid_.cells().empty()) {
        section.answer = "There was no block.";
        return section;
    }
    const std::vector<Row> rows = this->rows();
    const auto gaps = std::count_if(rows.begin(), rows.end(), [](const Row &row) { return row.places.empty(); });
    const auto width = static_cast<double>(std::uint64_t{1} << grid_.cell_log());
    section.answer = fmt::format(
        "Blocks lay in {} between {:#x} and {:#x}, in {}. A row of the map shows up to {}.",
        bytes_words(width * static_cast<double>(grid_.cells().size())), rows.front().begin, rows.back().end,
        count_words(static_cast<double>(gaps + 1), "address range", "address ranges"),
        bytes_words(width *
                    static_cast<double>(std::max_element(rows.begin(), rows.end(), [](const Row &a, const Row &b) {
                                            return a.places.size() < b.places.size();
                                        })->places.size())));
    if (scope_.trace.residents().empty()) section.answer += " Which pages were resident was not recorded.";
    section.charts = {chart(rows, AddressGrid::kTime), chart(rows, AddressGrid::kBirths)};
    return section;
}

}  // namespace gr::tool
