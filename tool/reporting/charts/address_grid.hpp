// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the address space in cells: how many bytes of each are in use now, and were at the ends of columns of a
//    picture.
// Invariant: only cells that held a block at some time are kept, kMostCells at most: when there would be more, cells
//    become twice as wide, those of columns before, too.
// Must not know: what a column stands for.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "reading/trace/live_set.hpp"
#include "reporting/steps/span.hpp"

namespace gr::tool {

class AddressGrid {
  public:
    static constexpr std::size_t kMostCells = 8192;
    static constexpr std::uint32_t kColumns = 1024;
    enum Axis : std::uint8_t { kTime, kBirths, kAxes };

    explicit AddressGrid(unsigned cell_log) : cell_log_(cell_log) {}

    void add(const trace::Block &block) { change(block, 1); }
    void remove(const trace::Block &block) { change(block, UINT64_MAX); }
    // All columns below that one that have not ended yet end now.
    void end_columns(Axis axis, std::uint32_t column) {
        if (column > columns_[axis].size()) take(axis, column);
    }

    [[nodiscard]] unsigned cell_log() const { return cell_log_; }
    // The numbers of the cells, in no order; a column's bytes are in the same order, and 0 behind its end.
    [[nodiscard]] const std::vector<std::uint64_t> &cells() const { return cells_; }
    [[nodiscard]] const std::vector<std::vector<float>> &columns(Axis axis) const { return columns_[axis]; }

  private:
    void change(const trace::Block &block, std::uint64_t sign) {
        Span span = span_of(block, cell_log_);
        while (span.count() > kMostCells) {
            coarsen();
            span = span_of(block, cell_log_);
        }
        for (std::uint64_t number = span.first; number <= span.last; ++number)
            in_use_[place_of(number)] += sign * bytes_within(block, number, cell_log_);
        while (cells_.size() > kMostCells) coarsen();
    }
    std::uint32_t place_of(std::uint64_t number) {
        Recent &recent = recent_[number % kRecent];
        if (recent.number != number) recent = {number, find(number)};
        return recent.place;
    }
    std::uint32_t find(std::uint64_t number);
    void take(Axis axis, std::uint32_t column);
    void coarsen();

    static constexpr std::size_t kRecent = 4096;
    struct Recent {
        std::uint64_t number = UINT64_MAX;
        std::uint32_t place = 0;
    };

    unsigned cell_log_;
    std::unordered_map<std::uint64_t, std::uint32_t> places_;
    std::vector<Recent> recent_ = std::vector<Recent>(kRecent);
    std::vector<std::uint64_t> cells_;
    std::vector<std::uint64_t> in_use_;
    std::vector<std::vector<float>> columns_[kAxes];
};

}  // namespace gr::tool
